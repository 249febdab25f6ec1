"""The rules over which the tests of rules and filters run; a new rule joins `RULES`.

Its name also goes into `UNEQUAL_WEIGHTS` if its weights differ, and into `SMOOTHING` if its points
are not near the components of the mixture as it is.
"""

import skh

KERNEL = skh.GaussianKernel(1.0)
RULES = {
    "MonteCarlo": skh.MonteCarlo(),
    "Stratified": skh.Stratified(),
    "Systematic": skh.Systematic(),
    "Sobol": skh.QuasiMonteCarlo("storage"),
    "Hilbert": skh.QuasiMonteCarlo("hilbert"),
    "FW": skh.FWQuad(KERNEL, search_points=500),
    "FW-LS": skh.FWQuad(KERNEL, skh.LineSearch(), 500),
    "FCFW": skh.FWQuad(KERNEL, skh.FullyCorrective(), 500),
    "FCFW, several scales": skh.FWQuad(skh.GaussianKernel((0.1, 1.0)), skh.FullyCorrective(), 500),
    "FW, Sobol search": skh.FWQuad(KERNEL, search_points=500, search=skh.QuasiMonteCarlo()),
    "Measured": skh.Measured(skh.Stratified(), KERNEL),
    "FW, refined": skh.FWQuad(KERNEL, search_points=500, refine=skh.Refine(5)),
    "Sobol, refined": skh.Refined(refine=skh.Refine(5)),
    "FCFW, protected": skh.FWQuad(KERNEL, skh.FullyCorrective(ridge=1e-3), 500),
    "pairwise": skh.FWQuad(KERNEL, skh.BlendedPairwise(), 500),
    "default": skh.default_rule(),
    "Stratified, matched": skh.Matched(skh.Stratified()),
    "Stratified, smoothed": skh.Smoothed(skh.Stratified()),
    "Stratified, regularized": skh.Regularized(skh.Stratified()),
}
UNEQUAL_WEIGHTS = {
    "FW-LS",
    "FCFW",
    "FCFW, several scales",
    "FCFW, protected",
    "pairwise",
    "default",
}
SMOOTHING = {"Stratified, smoothed", "Stratified, regularized"}
