#!/usr/bin/env bash
# Print an interpreter of each version that is supported and can be found: on the path, or among those of pyenv.
for version in 3.11 3.12 3.13; do
    for python in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python3; do
        if "$python" -c "import ensurepip, sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null; then
            echo "$python"
            break
        fi
    done
done
