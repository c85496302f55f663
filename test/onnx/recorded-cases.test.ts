import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { type ChangedOutput, changeRecordedOutputs } from '../faults/changed-outputs.ts'
import { assayJson, copyFixture, project } from '../support/assay.ts'

const targets = ['ort:cpu', 'ort-web:wasm']

/** Model → verdict per target, with the stage of an error. */
function table(results: readonly Result[]): Record<string, string> {
  const rows: Record<string, string> = {}
  for (const model of new Set(results.map((result) => result.model))) {
    const cells = targets.map((target) => results.find((result) => result.model === model && result.target === target)!)
    const text = cells.map(({ verdict, error }) => [verdict, error?.stage, error?.signal].filter(Boolean).join(' '))
    rows[model] = text[0] === text[1] ? text[0]! : text.join(' / ')
  }
  return rows
}

describe('the standard ONNX cases', () => {
  const folder = project()
  let before: readonly Result[] = []
  let after: readonly Result[] = []
  let changed: readonly ChangedOutput[] = []

  beforeAll(async () => {
    copyFixture('onnx-cases', join(folder, 'cases'))
    const args = ['test', 'cases', ...targets.flatMap((target) => ['--target', target])]
    before = (await assayJson(args, folder)).results
    changed = await changeRecordedOutputs(join(folder, 'cases'), { pick: 0.5, size: 0.05 })
    after = (await assayJson(args, folder)).results
  })

  test('are judged against their recorded outputs', () => {
    expect(before.every((result) => result.reference === 'recorded')).toBe(true)
    expect(table(before)).toMatchInlineSnapshot(`
      {
        "test_Conv1d_dilated": "pass",
        "test_Softmax": "pass",
        "test_abs": "pass",
        "test_acosh": "pass",
        "test_adam_multiple": "error compile",
        "test_add_uint32": "pass",
        "test_and2d": "pass",
        "test_argmax_default_axis_example_select_last_index": "pass",
        "test_argmax_keepdims_random": "pass",
        "test_argmax_negative_axis_keepdims_example": "pass",
        "test_argmin_keepdims_random": "pass",
        "test_attention_4d_gqa_with_past_and_present_fp16": "pass",
        "test_averagepool_2d_dilations": "pass",
        "test_basic_conv_without_padding": "pass",
        "test_batchnorm_epsilon": "pass",
        "test_bernoulli_double": "error compile",
        "test_bitcast_scalar_float32_to_int32": "pass",
        "test_bitshift_left_uint64": "pass",
        "test_bitwise_xor_i16_3d": "pass",
        "test_cast_BFLOAT16_to_FLOAT": "skip",
        "test_cast_DOUBLE_to_FLOAT16": "pass",
        "test_cast_FLOAT16_to_UINT4": "error run SIGABRT / skip",
        "test_cast_FLOAT4E2M1_to_FLOAT": "skip",
        "test_cast_FLOAT8E4M3FN_to_FLOAT16": "skip",
        "test_causal_conv_with_state_fp16": "error compile",
        "test_compress_negative_axis": "pass",
        "test_constant": "pass",
        "test_convinteger_with_padding": "error run",
        "test_convinteger_without_padding": "pass",
        "test_dequantizelinear_axis": "pass",
        "test_dequantizelinear_int4": "skip",
        "test_dynamicquantizelinear_expanded": "pass",
        "test_equal_string": "pass",
        "test_equal_uint16": "pass",
        "test_gather_negative_indices": "pass",
        "test_gathernd_example_int32": "pass",
        "test_gelu_default_1_expanded": "pass",
        "test_gradient_of_add": "error compile",
        "test_isinf_float16": "pass",
        "test_isinf_positive": "pass",
        "test_isnan": "pass",
        "test_layer_normalization_2d_axis_negative_1": "pass",
        "test_less_equal_uint64": "pass",
        "test_loop11": "pass",
        "test_lstm_with_peepholes": "pass",
        "test_matmulinteger": "pass",
        "test_max_uint64": "pass",
        "test_maxpool_2d_uint8": "pass",
        "test_min_int64": "pass",
        "test_mod_mixed_sign_int16": "pass",
        "test_nonmaxsuppression_two_batches": "pass",
        "test_nonzero_example": "pass",
        "test_operator_addmm": "error compile",
        "test_optional_has_element_optional_input": "skip",
        "test_optional_has_element_tensor_input": "skip",
        "test_qlinearmatmul_2D_int8_float32": "pass",
        "test_qlinearmatmul_3D_uint8_float16": "pass",
        "test_quantizelinear_blocked_asymmetric": "pass",
        "test_quantizelinear_int16": "pass",
        "test_reduce_log_sum_empty_set": "pass",
        "test_reduce_sum_empty_set_non_reduced_axis_zero": "pass",
        "test_reshape_negative_dim": "pass",
        "test_resize_upsample_scales_linear_align_corners": "pass",
        "test_scan_sum": "pass",
        "test_sequence_insert_at_back": "skip",
        "test_sequence_model7": "pass",
        "test_single_relu_model": "pass",
        "test_size": "pass",
        "test_softmax_example": "pass",
        "test_split_variable_parts_1d_opset13": "pass",
        "test_split_zero_size_splits_opset13": "pass",
        "test_string_concat_utf8": "pass",
        "test_string_split_basic": "pass",
        "test_strnorm_model_nostopwords_nochangecase": "pass",
        "test_top_k_negative_axis": "pass",
        "test_top_k_same_values": "pass",
        "test_top_k_uint64": "error compile",
        "test_unique_sorted_with_axis": "pass",
        "test_where_long_example": "pass",
      }
    `)
  })

  test('go on after one that kills its worker, which is said with signal and last words', () => {
    const killer = before.find(({ id }) => id === 'test_cast_FLOAT16_to_UINT4/full_model@ort:cpu')!
    expect(killer).toMatchObject({ verdict: 'error', error: { stage: 'run', side: 'target', signal: 'SIGABRT' } })
    expect(killer.error!.message).toBe(
      'ort:cpu: the worker was killed by SIGABRT before it answered, twice, the second time alone in a fresh worker',
    )
    expect(killer.error!.stderr).toContain('FATAL ERROR')
    expect(before).toHaveLength(2 * 79)
  })

  test('all fail when one element of each output is changed', () => {
    const passed = before.filter(({ verdict }) => verdict === 'pass')
    const expected = passed.flatMap(({ id, model }) => {
      return changed.filter((output) => output.model === model).map(({ output }) => `${id} ${output}`)
    })
    const failed = after.flatMap(({ id, outputs }) => {
      return outputs.filter(({ verdict }) => verdict === 'fail').map(({ name }) => `${id} ${name}`)
    })
    expect(expected.length).toBeGreaterThan(150)
    expect(failed).toEqual(expected)
  })

  test('keep their verdict where nothing could be changed or judged', () => {
    const others = after.filter(({ verdict }) => verdict !== 'fail')
    const verdictBefore = new Map(before.map(({ id, verdict }) => [id, verdict]))
    expect(others.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(
      others.map(({ id }) => `${id} ${verdictBefore.get(id)}`),
    )
    expect(others.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id)).toMatchInlineSnapshot(`
      [
        "test_reduce_sum_empty_set_non_reduced_axis_zero/full_model@ort-web:wasm",
        "test_reduce_sum_empty_set_non_reduced_axis_zero/full_model@ort:cpu",
        "test_split_zero_size_splits_opset13/full_model@ort-web:wasm",
        "test_split_zero_size_splits_opset13/full_model@ort:cpu",
      ]
    `)
  })
})
