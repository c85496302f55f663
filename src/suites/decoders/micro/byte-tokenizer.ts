const END_TOKEN = '<|endoftext|>'
export const END_ID = 0
const BYTES = 256
/** The end of the text, and every byte. */
export const SMALLEST_VOCABULARY = 1 + BYTES
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** A byte-level BPE in the form of the `tokenizers` library that any text round-trips through. */
export function byteTokenizer(vocabulary: number): object {
  const merges = letterMerges(vocabulary - SMALLEST_VOCABULARY)
  const tokens = [END_TOKEN, ...byteCharacters(), ...merges.map((pair) => pair.join(''))]
  const rest = { add_prefix_space: false, trim_offsets: true, use_regex: true }
  const special = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [{ id: END_ID, content: END_TOKEN, ...special }],
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', ...rest },
    post_processor: null,
    decoder: { type: 'ByteLevel', ...rest },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges,
    },
  }
}

export function tokenizerConfig(maxPositions: number): object {
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: END_TOKEN,
    eos_token: END_TOKEN,
    pad_token: END_TOKEN,
    padding_side: 'left',
    model_max_length: maxPositions,
    clean_up_tokenization_spaces: false,
  }
}

/** The characters that stand for bytes in such vocabularies, as GPT-2 began it: itself where one sees it, else from 256 on. */
function byteCharacters(): string[] {
  let unseen = BYTES
  return Array.from({ length: BYTES }, (_, byte) => {
    const isSeen = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
    return String.fromCharCode(isSeen ? byte : unseen++)
  })
}

/** All words of two letters, then of three …: each is a shorter one and a letter. */
function letterMerges(count: number): [string, string][] {
  const merges: [string, string][] = []
  let shorter = [...LETTERS]
  while (merges.length < count) {
    const longer: string[] = []
    for (const word of shorter) {
      for (const letter of LETTERS) {
        if (merges.length === count) return merges
        merges.push([word, letter])
        longer.push(word + letter)
      }
    }
    shorter = longer
  }
  return merges
}
