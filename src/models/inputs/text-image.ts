const GLYPH_ROWS = 7
const GLYPH_COLUMNS = 5
const ADVANCE = GLYPH_COLUMNS + 1

/** Seven rows of five dots per letter, as printed by a dot-matrix printer. */
const FONT: Readonly<Record<string, readonly string[]>> = {
  ' ': ['.....', '.....', '.....', '.....', '.....', '.....', '.....'],
  A: ['.###.', '#...#', '#...#', '#####', '#...#', '#...#', '#...#'],
  B: ['####.', '#...#', '#...#', '####.', '#...#', '#...#', '####.'],
  C: ['.###.', '#...#', '#....', '#....', '#....', '#...#', '.###.'],
  D: ['####.', '#...#', '#...#', '#...#', '#...#', '#...#', '####.'],
  E: ['#####', '#....', '#....', '####.', '#....', '#....', '#####'],
  F: ['#####', '#....', '#....', '####.', '#....', '#....', '#....'],
  G: ['.###.', '#...#', '#....', '#.###', '#...#', '#...#', '.###.'],
  H: ['#...#', '#...#', '#...#', '#####', '#...#', '#...#', '#...#'],
  I: ['.###.', '..#..', '..#..', '..#..', '..#..', '..#..', '.###.'],
  J: ['..###', '...#.', '...#.', '...#.', '...#.', '#..#.', '.##..'],
  K: ['#...#', '#..#.', '#.#..', '##...', '#.#..', '#..#.', '#...#'],
  L: ['#....', '#....', '#....', '#....', '#....', '#....', '#####'],
  M: ['#...#', '##.##', '#.#.#', '#.#.#', '#...#', '#...#', '#...#'],
  N: ['#...#', '#...#', '##..#', '#.#.#', '#..##', '#...#', '#...#'],
  O: ['.###.', '#...#', '#...#', '#...#', '#...#', '#...#', '.###.'],
  P: ['####.', '#...#', '#...#', '####.', '#....', '#....', '#....'],
  Q: ['.###.', '#...#', '#...#', '#...#', '#.#.#', '#..#.', '.##.#'],
  R: ['####.', '#...#', '#...#', '####.', '#.#..', '#..#.', '#...#'],
  S: ['.####', '#....', '#....', '.###.', '....#', '....#', '####.'],
  T: ['#####', '..#..', '..#..', '..#..', '..#..', '..#..', '..#..'],
  U: ['#...#', '#...#', '#...#', '#...#', '#...#', '#...#', '.###.'],
  V: ['#...#', '#...#', '#...#', '#...#', '#...#', '.#.#.', '..#..'],
  W: ['#...#', '#...#', '#...#', '#.#.#', '#.#.#', '##.##', '#...#'],
  X: ['#...#', '#...#', '.#.#.', '..#..', '.#.#.', '#...#', '#...#'],
  Y: ['#...#', '#...#', '.#.#.', '..#..', '..#..', '..#..', '..#..'],
  Z: ['#####', '....#', '...#.', '..#..', '.#...', '#....', '#####'],
  '0': ['.###.', '#...#', '#..##', '#.#.#', '##..#', '#...#', '.###.'],
  '1': ['..#..', '.##..', '..#..', '..#..', '..#..', '..#..', '.###.'],
  '2': ['.###.', '#...#', '....#', '...#.', '..#..', '.#...', '#####'],
  '3': ['#####', '...#.', '..#..', '...#.', '....#', '#...#', '.###.'],
  '4': ['...#.', '..##.', '.#.#.', '#..#.', '#####', '...#.', '...#.'],
  '5': ['#####', '#....', '####.', '....#', '....#', '#...#', '.###.'],
  '6': ['..##.', '.#...', '#....', '####.', '#...#', '#...#', '.###.'],
  '7': ['#####', '....#', '...#.', '..#..', '.#...', '.#...', '.#...'],
  '8': ['.###.', '#...#', '#...#', '.###.', '#...#', '#...#', '.###.'],
  '9': ['.###.', '#...#', '#...#', '.####', '....#', '...#.', '.##..'],
}

const LINES = ['ASSAY 2026', 'MODEL 0135', 'HELLO 4789']

interface Canvas {
  readonly height: number
  readonly width: number
  readonly ink: Float64Array
}

/** Lines of letters and digits, 1 where there is ink and 0 elsewhere, row-major; as many and as large as the image holds. */
export function drawText(height: number, width: number): Float64Array {
  const canvas = { height, width, ink: new Float64Array(height * width) }
  const dotSize = dotSizeFor(height, width)
  const lineHeight = (GLYPH_ROWS + 3) * dotSize
  const lines = Math.max(1, Math.floor(height / lineHeight))
  const top = Math.floor((height - lines * lineHeight) / 2) + dotSize
  for (let line = 0; line < lines; line++) {
    drawLine(canvas, LINES[line % LINES.length]!, top + line * lineHeight, dotSize)
  }
  return canvas.ink
}

/** Ten letters across, but no letter taller than the image. */
function dotSizeFor(height: number, width: number): number {
  const fits = Math.min(Math.floor(width / (10 * ADVANCE + 4)), Math.floor(height / (GLYPH_ROWS + 2)))
  return Math.max(1, fits)
}

function drawLine(canvas: Canvas, text: string, top: number, dotSize: number): void {
  ;[...text].forEach((letter, position) => {
    drawGlyph(canvas, FONT[letter] ?? FONT[' ']!, top, (2 + position * ADVANCE) * dotSize, dotSize)
  })
}

function drawGlyph(canvas: Canvas, rows: readonly string[], top: number, left: number, dotSize: number): void {
  for (let y = 0; y < GLYPH_ROWS * dotSize; y++) {
    for (let x = 0; x < GLYPH_COLUMNS * dotSize; x++) {
      const inked = rows[Math.floor(y / dotSize)]![Math.floor(x / dotSize)] === '#'
      if (inked) putInk(canvas, top + y, left + x)
    }
  }
}

function putInk({ height, width, ink }: Canvas, y: number, x: number): void {
  if (y >= 0 && y < height && x >= 0 && x < width) ink[y * width + x] = 1
}
