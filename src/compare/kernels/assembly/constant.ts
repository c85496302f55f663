/** Room for one vector, below everything of layout.ts. */
const PLACE: i32 = 256

/**
 * A vector constant by way of memory. V8 makes constants anew wherever they are used, from two 64-bit integers, which
 * takes longer than most operations; what was loaded before a loop stays in its register.
 */
@inline
export function held(constant: v128): v128 {
  v128.store(PLACE, constant)
  return v128.load(PLACE)
}
