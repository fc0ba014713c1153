import { z } from 'zod';

/**
 * A schema for objects told apart by a string field: those with a known tag are checked by the schema for it, those with
 * an unknown tag are let through, because a newer client and a newer upstream may agree on more than this router knows.
 */
export function openUnion(tag: string, known: Readonly<Record<string, z.ZodType>>): z.ZodType {
  const schemas = new Map(Object.entries(known));
  return z.looseObject({ [tag]: z.string() }).check((context) => {
    const checked = schemas.get(String(context.value[tag]))?.safeParse(context.value);
    if (checked?.success === false) {
      for (const issue of checked.error.issues)
        context.issues.push({ ...issue, input: context.value } as z.core.$ZodRawIssue);
    }
  });
}
