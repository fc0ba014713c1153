import { z } from 'zod';

/**
 * Returns a schema for arrays that stops at the first invalid element. One problem is enough to refuse a request, and collecting the
 * problems of a million elements would take seconds.
 * @param isPlain a cheap test that is true only for valid elements; the schema checks all others
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
 * Returns a schema for objects that a string field, the tag, distinguishes. The schema of a known tag checks the object. Objects with an
 * unknown tag are accepted, because a newer client and upstream may know more types than this router.
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
