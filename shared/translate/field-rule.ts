import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { requestsFeature } from '#shared/formats/requests-feature.ts';

/** What happens to a field of a request or an answer. */
export type Effect =
  | { kind: 'passed' }
  /** `to`: path of the resulting field, with `[]` for every element. */
  | { kind: 'translated'; to: string; how: string }
  | { kind: 'ignored'; why: string }
  /** `what`: the feature that the field requests and the upstream lacks. */
  | { kind: 'refused'; feature: string };

/**
 * One field and its effect in one direction of a translation. Translators read from these rules which fields to omit or refuse. The tables
 * of `docs/translation.md` are generated from the rules, and tests compare the rules with the translators.
 */
export interface FieldRule {
  /** Path of the field, with `[]` for every element; `*` stands for all fields without a rule. */
  field: string;
  effect: Effect;
}

export function rule(field: string, effect: Effect): FieldRule {
  return { field, effect };
}

export const passed: Effect = { kind: 'passed' };

/** The field becomes another field, or keeps its name with another value. */
export function translated(to: string, how = ''): Effect {
  return { kind: 'translated', to, how };
}

export function ignored(why: string): Effect {
  return { kind: 'ignored', why };
}

/** A request with the field is refused with status 400. */
export function refused(feature: string): Effect {
  return { kind: 'refused', feature };
}

/** The top-level request fields that have a rule. A translator sends all other fields unchanged. */
export interface RuledFields {
  /** All fields with a rule, including refused fields. */
  known: ReadonlySet<string>;
  /** The feature that each refused field requests, by the name of the field. */
  refused: ReadonlyMap<string, string>;
}

/** @throws the created error for a refused field that requests its feature */
export function refuseRuledFields(
  request: JsonObject,
  { refused: refusedFields }: RuledFields,
  createError: (field: string, feature: string) => RouterError,
): void {
  for (const [field, feature] of refusedFields) {
    if (requestsFeature(request[field])) throw createError(field, feature);
  }
}

export function omitRuledFields(request: JsonObject, { known }: RuledFields): JsonObject {
  // A copy by spread keeps numbers exactly as received, see `parseExact`.
  const rest: JsonObject = { ...request };
  for (const field of Object.keys(rest)) if (known.has(field)) delete rest[field];
  return rest;
}

export function collectRuledFields(rules: readonly FieldRule[]): RuledFields {
  const refusals = rules.flatMap(({ field, effect }): [string, string][] =>
    /^\w+$/.test(field) && effect.kind === 'refused' ? [[field, effect.feature]] : [],
  );
  const known = rules.map(({ field }) => /^\w+/.exec(field)?.[0] ?? '');
  return { known: new Set(known), refused: new Map(refusals) };
}
