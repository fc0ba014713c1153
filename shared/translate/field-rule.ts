import type { JsonObject } from '#shared/core/json.ts';

/** The effect of a translation on a field. */
export type Effect =
  | { kind: 'passed' }
  /** `to`: path of the resulting field, with `[]` for every element. */
  | { kind: 'translated'; to: string; how: string }
  | { kind: 'ignored'; why: string }
  /** `what`: the requested feature that the upstream does not have. */
  | { kind: 'refused'; what: string };

/**
 * One field and its effect in one direction of a translation. The translators read from these rules which fields to omit or
 * refuse, the tables of `docs/translation.md` are generated from them, and tests compare them with the translators.
 */
export interface FieldRule {
  /** Path of the field, `[]` for every element; `*` stands for all fields without a rule. */
  field: string;
  effect: Effect;
}

/** Makes a rule: one line of a table. */
export function rule(field: string, effect: Effect): FieldRule {
  return { field, effect };
}

/** The field passes unchanged. */
export const passed: Effect = { kind: 'passed' };

/** The field becomes another one, or keeps its name with another value. */
export function translated(to: string, how = ''): Effect {
  return { kind: 'translated', to, how };
}

/** The field is omitted. */
export function ignored(why: string): Effect {
  return { kind: 'ignored', why };
}

/** A request with the field is refused with status 400. */
export function refused(what: string): Effect {
  return { kind: 'refused', what };
}

/** The top-level fields of a request that have a rule. A translator passes all others. */
export interface RuledFields {
  /** All fields with a rule, the refused ones included. */
  known: ReadonlySet<string>;
  /** Refused fields, each with the requested feature. */
  refused: ReadonlyMap<string, string>;
}

/** The fields of a request that have no rule. */
export function withoutRuled(request: JsonObject, { known }: RuledFields): JsonObject {
  // A copy by spread has its numbers as they came, see `parseExact`.
  const rest: JsonObject = { ...request };
  for (const field of Object.keys(rest)) if (known.has(field)) delete rest[field];
  return rest;
}

/** The top-level fields in these rules. */
export function ruledFields(rules: readonly FieldRule[]): RuledFields {
  const refusals = rules.flatMap(({ field, effect }): [string, string][] =>
    /^\w+$/.test(field) && effect.kind === 'refused' ? [[field, effect.what]] : [],
  );
  const known = rules.map(({ field }) => /^\w+/.exec(field)?.[0] ?? '');
  return { known: new Set(known), refused: new Map(refusals) };
}
