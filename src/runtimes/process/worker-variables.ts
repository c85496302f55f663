import type { Target } from '../../domain/target.ts'
import type { LaunchContext } from '../contract.ts'
import { noticeUnset } from './inherited-environment.ts'

/** Threads, devices and drivers of what computes. */
const COMPUTING = [
  ...['ORT_*', 'OMP_*', 'GOMP_*', 'KMP_*', 'MKL_*', 'OPENBLAS_*', 'BLIS_*', 'VECLIB_*', 'ONEDNN_*', 'DNNL_*', 'TBB_*'],
  ...['CUDA_*', 'CUDNN_*', 'CUBLAS_*', 'NVIDIA_*', 'HIP_*', 'ROCR_*', 'ROCM_*', 'HSA_*', 'MIOPEN_*', 'GPU_*'],
  ...['ONEAPI_*', 'SYCL_*', 'ZE_*', 'VK_*', 'MALLOC_*', 'GLIBC_TUNABLES', 'XDG_*', 'LD_PRELOAD'],
  ...['USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'ProgramFiles', 'ProgramData'],
]

/** Node itself: how much memory it may take, and where its coverage is counted. */
const NODE = ['NODE_OPTIONS', 'NODE_V8_COVERAGE']

/** What workers of each kind get of the environment besides the base: what they read, and nothing that lets them in elsewhere. */
export const WORKER_VARIABLES = {
  node: [...COMPUTING, ...NODE],
  python: [
    ...COMPUTING,
    ...['PYTHON*', 'NUMEXPR_*', 'NPY_*', 'OPENVINO_*', 'OV_*', 'IREE_*', 'CC', 'CXX'],
    ...['TORCH_*', 'PYTORCH_*', 'TORCHINDUCTOR_*', 'TRITON_*', 'ATEN_*', 'TRANSFORMERS_*', 'TOKENIZERS_PARALLELISM'],
    ...['HF_HOME', 'HF_HUB_CACHE', 'HF_HUB_OFFLINE', 'HF_MODULES_CACHE', 'HUGGINGFACE_HUB_CACHE'],
  ],
  browser: [
    ...COMPUTING,
    ...NODE,
    ...['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'DBUS_SESSION_BUS_ADDRESS', 'DBUS_SYSTEM_BUS_ADDRESS'],
    ...['LIBGL_*', 'MESA_*', 'GALLIUM_*', 'EGL_*', '__EGL_*', '__GLX_*', '__NV_*', 'DRI_PRIME', 'LIBVA_*'],
    ...['FONTCONFIG_*', 'GDK_*', 'GTK_*', 'CHROME_*', 'CHROMIUM_*'],
  ],
  ssh: [
    ...NODE,
    ...['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'SSH_ASKPASS', 'SSH_ASKPASS_REQUIRE', 'DISPLAY', 'WAYLAND_DISPLAY'],
    ...['KRB5CCNAME', 'KRB5_CONFIG', 'XDG_*'],
    ...['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ],
} as const satisfies Record<string, readonly string[]>

/** What a worker of this kind inherits for a target, which may name more with `env=`. */
export function inheritedFor(
  kind: keyof typeof WORKER_VARIABLES,
  { name, options }: Target,
  { environment, notice }: LaunchContext,
): string[] {
  const named = options.env?.split(',') ?? []
  noticeUnset(named, name, environment, notice)
  return [...WORKER_VARIABLES[kind], ...named]
}
