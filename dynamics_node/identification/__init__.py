"""Identify a robot or a payload from a recording of positions and torques.

    from dynamics_node.identification import identify_recording, read_recording

    identified = identify_recording(robot, read_recording('recording.mcap'))

Excite: `excitation`. Record: `read_recording`, `raw_recording`. Identify: `identify_recording`,
`identify_payload`. Use: `write_back`, `friction_yaml`. See docs/identification.md.
"""

from typing import TYPE_CHECKING

from dynamics_node.lazy_names import lazy_names

if TYPE_CHECKING:   # editors and type checkers; at run time see lazy_names
    from dynamics_node.identification.array_files import read_npz, read_parquet
    from dynamics_node.identification.bag_files import read_bag
    from dynamics_node.identification.csv_files import read_csv, write_csv
    from dynamics_node.identification.decimation import decimate
    from dynamics_node.identification.drive_gains import DriveGains, estimate_gains
    from dynamics_node.identification.excitation_limits import Box
    from dynamics_node.identification.excitation_search import (
        Excitation,
        ExcitationSettings,
        excitation,
    )
    from dynamics_node.identification.fleet_drift import ParameterDrift
    from dynamics_node.identification.fleet_fit import (
        FleetIdentification,
        FleetMember,
        identify_fleet,
    )
    from dynamics_node.identification.fourier import Fourier
    from dynamics_node.identification.friction_file import friction_yaml
    from dynamics_node.identification.identifiable_parameters import BaseParameters, base_parameters
    from dynamics_node.identification.joined_recordings import join_recordings
    from dynamics_node.identification.linear_fit import (
        TriangularProblem,
        solve_least_squares,
        weighted_problem,
    )
    from dynamics_node.identification.motor_side import joint_side
    from dynamics_node.identification.parameters import (
        ParameterLayout,
        parameter_layout,
        parameter_values,
        robot_with_parameters,
    )
    from dynamics_node.identification.payload_fit import PayloadEstimate, identify_payload
    from dynamics_node.identification.preparation import Prepared, prepare
    from dynamics_node.identification.progress import ProgressBar
    from dynamics_node.identification.pseudo_inertia import is_consistent
    from dynamics_node.identification.recording import RawRecording, Recording, raw_recording
    from dynamics_node.identification.recording_files import read_recording
    from dynamics_node.identification.recording_fit import IdentifiedRecording, identify_recording
    from dynamics_node.identification.recording_summary import (
        RecordingSummary,
        read_summary,
        summarize,
        write_summary,
    )
    from dynamics_node.identification.robot_fit import (
        Identification,
        IdentificationOptions,
        identify,
    )
    from dynamics_node.identification.sequential_qr import (
        TriangularFactors,
        merge_factors,
        triangular_factors,
    )
    from dynamics_node.identification.static_poses import StaticPoses
    from dynamics_node.identification.trajectory_files import (
        TimedPoints,
        read_trajectory,
        sample_trajectory,
        trajectory_yaml,
        write_trajectory_csv,
    )
    from dynamics_node.identification.transmission import Transmission, read_transmission
    from dynamics_node.identification.urdf_write_back import write_back

__all__ = [
    'BaseParameters',
    'Box',
    'DriveGains',
    'Excitation',
    'ExcitationSettings',
    'FleetIdentification',
    'FleetMember',
    'Fourier',
    'Identification',
    'IdentificationOptions',
    'IdentifiedRecording',
    'ParameterDrift',
    'ParameterLayout',
    'PayloadEstimate',
    'Prepared',
    'ProgressBar',
    'RawRecording',
    'Recording',
    'RecordingSummary',
    'StaticPoses',
    'TimedPoints',
    'Transmission',
    'TriangularFactors',
    'TriangularProblem',
    'base_parameters',
    'decimate',
    'estimate_gains',
    'excitation',
    'friction_yaml',
    'identify',
    'identify_fleet',
    'identify_payload',
    'identify_recording',
    'is_consistent',
    'joint_side',
    'join_recordings',
    'merge_factors',
    'parameter_layout',
    'parameter_values',
    'prepare',
    'raw_recording',
    'read_bag',
    'read_csv',
    'read_npz',
    'read_parquet',
    'read_recording',
    'read_summary',
    'read_trajectory',
    'read_transmission',
    'robot_with_parameters',
    'sample_trajectory',
    'solve_least_squares',
    'summarize',
    'trajectory_yaml',
    'triangular_factors',
    'weighted_problem',
    'write_back',
    'write_csv',
    'write_summary',
    'write_trajectory_csv',
]

_MODULES = {   # of this folder -> public names
    'array_files': ('read_npz', 'read_parquet'),
    'bag_files': ('read_bag',),
    'csv_files': ('read_csv', 'write_csv'),
    'decimation': ('decimate',),
    'drive_gains': ('DriveGains', 'estimate_gains'),
    'excitation_limits': ('Box',),
    'excitation_search': ('Excitation', 'ExcitationSettings', 'excitation'),
    'fleet_drift': ('ParameterDrift',),
    'fleet_fit': ('FleetIdentification', 'FleetMember', 'identify_fleet'),
    'fourier': ('Fourier',),
    'friction_file': ('friction_yaml',),
    'identifiable_parameters': ('BaseParameters', 'base_parameters'),
    'joined_recordings': ('join_recordings',),
    'linear_fit': ('TriangularProblem', 'solve_least_squares', 'weighted_problem'),
    'motor_side': ('joint_side',),
    'parameters': ('ParameterLayout', 'parameter_layout', 'parameter_values',
                   'robot_with_parameters'),
    'payload_fit': ('PayloadEstimate', 'identify_payload'),
    'preparation': ('Prepared', 'prepare'),
    'progress': ('ProgressBar',),
    'pseudo_inertia': ('is_consistent',),
    'recording': ('RawRecording', 'Recording', 'raw_recording'),
    'recording_files': ('read_recording',),
    'recording_fit': ('IdentifiedRecording', 'identify_recording'),
    'recording_summary': ('RecordingSummary', 'read_summary', 'summarize', 'write_summary'),
    'robot_fit': ('Identification', 'IdentificationOptions', 'identify'),
    'sequential_qr': ('TriangularFactors', 'merge_factors', 'triangular_factors'),
    'static_poses': ('StaticPoses',),
    'trajectory_files': ('TimedPoints', 'read_trajectory', 'sample_trajectory',
                         'trajectory_yaml', 'write_trajectory_csv'),
    'transmission': ('Transmission', 'read_transmission'),
    'urdf_write_back': ('write_back',),
}
__getattr__, __dir__ = lazy_names(__name__, _MODULES)   # SciPy alone takes 0.1 s
