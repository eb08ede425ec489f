"""pip install --no-build-isolation .  (colcon reads package.xml and CMakeLists.txt instead).

Where ROS 2 is installed this drives the same CMakeLists.txt and gives the complete node, services
included. Where it is not, it gives the Python library: everything but `dynamics_node.ros`. Both
install the program `dynamics_node`.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zlib
from pathlib import Path

import numpy
from setuptools import Distribution, Extension, find_packages, setup
from setuptools.command.build_py import build_py

NAME = 'dynamics_node'
ROOT = Path(__file__).resolve().parent
HAS_ROS = importlib.util.find_spec('rclpy') is not None
VERSION = re.search(r'<version>(.*)</version>', (ROOT / 'package.xml').read_text()).group(1)


class BuildWithInterfaces(build_py):
    """Build the Python module, then add what CMake makes: services, launch, config, executable."""

    def run(self):
        super().run()
        prefix = run_cmake()
        target = ROOT / NAME if self.editable_mode else Path(self.build_lib) / NAME
        copy_interfaces(next(prefix.glob(f'lib/python*/site-packages/{NAME}')), target)
        self.distribution.data_files = data_files(prefix)
        if self.editable_mode:  # setuptools does not run install_data for an editable wheel
            command = self.distribution.get_command_obj('install_data')
            command.data_files = self.distribution.data_files
            command.ensure_finalized()
            command.run()


def run_cmake():
    """Configure, build and install with CMake; return the prefix it installed to."""
    # One build folder per interpreter: a CMake cache made in another virtualenv points into it.
    build = ROOT / 'build' / f'cmake-{zlib.crc32(sys.prefix.encode()):08x}'
    prefix = build / 'prefix'
    shutil.rmtree(prefix, ignore_errors=True)
    env = dict(os.environ)
    for key in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):  # a sourced ROS first, then the wheels
        env[key] = os.pathsep.join(filter(None, [env.get(key), sys.prefix]))
    env['PATH'] = os.pathsep.join([sysconfig.get_path('scripts'), env.get('PATH', '')])
    cmake = shutil.which('cmake', path=env['PATH'])
    if cmake is None:
        sys.exit('cmake is not installed; the services cannot be built without it')
    generator = ['-GNinja'] if shutil.which('ninja', path=env['PATH']) else []
    for step in (
        ['-S', ROOT, '-B', build, *generator, f'-DCMAKE_INSTALL_PREFIX={prefix}',
         f'-DPython3_EXECUTABLE={sys.executable}', '-DBUILD_TESTING=OFF',
         '-DCMAKE_BUILD_TYPE=Release'],
        ['--build', build],
        ['--install', build, '--strip'],
    ):
        subprocess.run([cmake, *step], check=True, env=env)
    return prefix


def copy_interfaces(generated, target):
    """Copy the generated interface classes, type support and the extensions into the module."""
    for kind in ('msg', 'srv', 'action'):
        shutil.copytree(generated / kind, target / kind, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns('*.c', '__pycache__'))
    for library in [*generated.glob('*.so'), *generated.glob('*/*.so')]:
        shutil.copy2(library, target / library.parent.relative_to(generated))


def data_files(prefix):
    """Return what belongs beside the module: lib*.so, lib/NAME/, share/."""
    files = {}
    for path in sorted([*(prefix / 'share').rglob('*'), *(prefix / 'lib').glob('*.so'),
                        *(prefix / 'lib' / NAME).glob('*')]):
        if path.is_file():
            folder = str(path.parent.relative_to(prefix))
            files.setdefault(folder, []).append(os.path.relpath(path, ROOT))
    return sorted(files.items())


class BinaryDistribution(Distribution):
    """A wheel with type support libraries belongs to one platform and one Python."""

    def has_ext_modules(self):
        return True


everything = find_packages(include=[NAME, f'{NAME}.*'])
library = [package for package in everything if package.split('.')[1:2] != ['ros']]
with_ros = {
    'distclass': BinaryDistribution,
    'cmdclass': {'build_py': BuildWithInterfaces},
}
without_ros = {  # with ROS, CMake builds them; without a C compiler, ctypes and NumPy replace them
    'ext_modules': [Extension(f'{NAME}.{room}._{name}', [f'{NAME}/{room}/{name}.c'],
                              depends=[str(path) for path in Path(NAME, room).glob('*.h')],
                              include_dirs=[numpy.get_include()], optional=True,
                              extra_compile_args=['-O3'], libraries=['pthread'])
                    for room, name in (('compiler', 'call'), ('task_space', 'qp_terms'))],
}
setup(version=VERSION, packages=everything if HAS_ROS else library,
      entry_points={'console_scripts': [f'{NAME} = {NAME}.commands.executable:main']},
      package_data={NAME: ['py.typed'], f'{NAME}.example_robots': ['*.urdf', 'mechanisms/*']},
      **(with_ros if HAS_ROS else without_ros))
