import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Bytes as byte-level vocabularies write them: the ids of the printable ones come first. */
function byteCharacters(): string[] {
  const all = Array.from({ length: 256 }, (_, byte) => byte)
  const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
  const others = all.filter((byte) => !isPrintable(byte)).map((_, i) => String.fromCodePoint(0x100 + i))
  return [...all.filter(isPrintable).map((byte) => String.fromCodePoint(byte)), ...others]
}

/** A byte-level tokenizer with four merges; it begins texts with `<s>`, which is id 260, and 261 is `</s>`. */
export function smallTokenizer(): Record<string, unknown> {
  const merges = ['t h', 'Ġ th', 'h e', 'Ġth e']
  const pieces = [...byteCharacters(), ...merges.map((merge) => merge.replace(' ', ''))]
  const special = ['<s>', '</s>'].map((content, i) => ({ id: pieces.length + i, content, special: true }))
  const facts = { single_word: false, lstrip: false, rstrip: false, normalized: false }
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: special.map((token) => ({ ...token, ...facts })),
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
      special_tokens: { '<s>': { id: '<s>', ids: [pieces.length], tokens: ['<s>'] } },
    },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges,
    },
  }
}

/** A new folder with files; objects are written as JSON. */
export function folderWith(files: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay models '))
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}
