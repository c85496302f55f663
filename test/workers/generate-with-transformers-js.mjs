// node generate-with-transformers-js.mjs <its package> <model folder> <dtype> <new tokens> <prompt>: greedy text, as JSON.
import { basename, dirname } from 'node:path'

const [module, folder, dtype, newTokens, prompt] = process.argv.slice(2)
const { AutoModelForCausalLM, AutoTokenizer, env } = await import(module)
env.allowRemoteModels = false
env.localModelPath = `${dirname(folder)}/`
const tokenizer = await AutoTokenizer.from_pretrained(basename(folder))
const model = await AutoModelForCausalLM.from_pretrained(basename(folder), { dtype })
const output = await model.generate({ ...tokenizer(prompt), max_new_tokens: Number(newTokens), do_sample: false })
process.stdout.write(JSON.stringify(output.tolist()[0].map(Number)))
