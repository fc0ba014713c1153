import type { PriorityClass } from '#shared/core/priority-class.ts';

/**
 * The order in which one scan looks at the lanes. High first, but one scan in four begins with normal and one in
 * sixteen with low, so that no class starves behind a backlog of a higher one.
 */
export function classOrder(scan: number): PriorityClass[] {
  if (scan % 16 === 0) return ['low', 'normal', 'high'];
  if (scan % 4 === 0) return ['normal', 'high', 'low'];
  return ['high', 'normal', 'low'];
}
