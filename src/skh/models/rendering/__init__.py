"""Poses from images rendered for each particle: a scene, its voxel map, a camera and a flight."""

from skh.models.rendering.camera import InverseDepthCamera
from skh.models.rendering.flight import RenderedFlight, ResidualFlight, TellingFlight
from skh.models.rendering.scene import Scene, VoxelMap

__all__ = [
    "InverseDepthCamera",
    "RenderedFlight",
    "ResidualFlight",
    "Scene",
    "TellingFlight",
    "VoxelMap",
]
