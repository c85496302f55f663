interface CompilationMessage {
  readonly type: string
  readonly message: string
  /** Counted from 1; 0 where it is about no line. */
  readonly lineNum: number
  readonly linePos: number
}

interface ShaderModule {
  readonly label: string
  getCompilationInfo(): Promise<{ readonly messages: readonly CompilationMessage[] }>
}

interface ShaderDescriptor {
  readonly label?: string
  readonly code: string
}

interface PipelineDescriptor {
  readonly label?: string
  readonly compute: { readonly module: ShaderModule }
}

/** The part of a WebGPU device that makes kernels. */
export interface KernelMaker {
  createShaderModule(descriptor: ShaderDescriptor): ShaderModule
  createComputePipeline(descriptor: PipelineDescriptor): unknown
  createComputePipelineAsync(descriptor: PipelineDescriptor): Promise<unknown>
}

interface MadeShader {
  readonly name: string
  readonly code: string
  readonly module: ShaderModule
}

/** How a shader's label ends in the device's messages. */
const NUMBER = /#(\d+)(?=")/

/**
 * The shaders of a page, told apart. onnxruntime names them by op, and its kernels outlive a session: a refused one that
 * another model uses again only says that "Pow" is invalid, of however many.
 */
export class Shaders {
  readonly #made: MadeShader[] = []

  /** From now on every shader, and the pipeline made of it, has a label of its own. */
  watch(maker: KernelMaker): void {
    const { createShaderModule, createComputePipeline, createComputePipelineAsync } = maker
    const made = this.#made
    const labelled = (descriptor: PipelineDescriptor) => ({ ...descriptor, label: descriptor.compute.module.label })
    maker.createShaderModule = function (descriptor) {
      const name = descriptor.label ?? ''
      const module = createShaderModule.call(this, { ...descriptor, label: `${name}#${made.length}` })
      made.push({ name, code: descriptor.code, module })
      return module
    }
    maker.createComputePipeline = function (descriptor) {
      return createComputePipeline.call(this, labelled(descriptor))
    }
    maker.createComputePipelineAsync = function (descriptor) {
      return createComputePipelineAsync.call(this, labelled(descriptor))
    }
  }

  /** What the device said; where it is about a shader that does not compile, why that one does not. */
  async explain(message: string): Promise<string> {
    const [, number] = NUMBER.exec(message) ?? []
    const shader = number === undefined ? undefined : this.#made[Number(number)]
    const refusal = shader && (await refusalOf(shader))
    return refusal ?? message.replaceAll(new RegExp(NUMBER, 'g'), '')
  }
}

async function refusalOf({ name, code, module }: MadeShader): Promise<string | null> {
  // A lost device answers nothing; what it said before then stands for itself.
  const messages = await module.getCompilationInfo().then(
    (info) => info.messages,
    () => [],
  )
  const error = messages.find(({ type }) => type === 'error')
  if (!error) return null
  const line = code.split('\n')[error.lineNum - 1]?.trim()
  const where = line ? ` in line ${error.lineNum}, ${line}` : ''
  return `shader "${name}" does not compile: ${error.message.replace(/\s+/g, ' ').trim()}${where}`
}
