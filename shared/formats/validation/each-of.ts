import { z } from 'zod';

/**
 * A schema for arrays that looks no further than the first element that is wrong. One is enough to refuse a request, and
 * collecting what is wrong with a million of them would take seconds.
 */
export function eachOf(element: z.ZodType): z.ZodArray<z.ZodUnknown> {
  return z.array(z.unknown()).check((context) => {
    for (const [position, value] of context.value.entries()) {
      const checked = element.safeParse(value);
      if (checked.success) continue;
      for (const issue of checked.error.issues) {
        const path = [position, ...issue.path];
        context.issues.push({ ...issue, path, input: value } as z.core.$ZodRawIssue);
      }
      return;
    }
  });
}
