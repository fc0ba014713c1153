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

/**
 * A schema for objects told apart by a string field: those with a known tag are checked by the schema for it, those with
 * an unknown tag are let through, because a newer client and a newer upstream may agree on more than this router knows.
 * @param untagged the tag that an object without one has; without this, the field is required
 */
export function openUnion(tag: string, known: Readonly<Record<string, z.ZodType>>, untagged?: string): z.ZodType {
  const schemas = new Map(Object.entries(known));
  const shape = { [tag]: untagged === undefined ? z.string() : z.string().nullish() };
  return z.looseObject(shape).check((context) => {
    const checked = schemas.get(context.value[tag] ?? untagged ?? '')?.safeParse(context.value);
    if (checked?.success === false) {
      for (const issue of checked.error.issues) {
        context.issues.push({ ...issue, input: context.value } as z.core.$ZodRawIssue);
      }
    }
  });
}
