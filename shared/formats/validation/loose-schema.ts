import { z } from 'zod';

/**
 * Creates a schema for arrays that stops at the first invalid element. One problem is enough to refuse a request, and it would take seconds
 * to collect the problems of a million elements.
 * @param isPlain a cheap test that is true only for valid elements. The schema checks all other elements
 */
export function arrayOf(
  element: z.ZodType,
  isPlain: (value: unknown) => boolean = () => false,
): z.ZodArray<z.ZodUnknown> {
  return z.array(z.unknown()).check((context) => {
    for (const [position, value] of context.value.entries()) {
      if (isPlain(value)) continue;
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
 * Creates a schema for objects with a type in a string field, the tag. The schema of a known tag checks the object. Objects with an unknown
 * tag are accepted, because newer clients and upstreams may use more types than this router.
 * @param untagged the tag of an object without the field; if undefined, the field is required
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
