/** What becomes of a field on its way through the router. */
export type Effect =
  | { kind: 'passed' }
  /** `to`: the path of what it becomes, `[]` for every element. */
  | { kind: 'translated'; to: string; how: string }
  | { kind: 'ignored'; why: string }
  /** `what`: what the field asks for and the other side cannot do. */
  | { kind: 'refused'; what: string };

/**
 * One field and what becomes of it in one direction of a translation. The translators read from these rules which fields to
 * leave out or refuse; the tables of `docs/translation.md` are made from them; a test compares them with what the
 * translators do.
 */
export interface FieldRule {
  /** Path of the field, `[]` for every element; `*` stands for all fields without a rule. */
  field: string;
  effect: Effect;
}

/** One rule, for a line of a table. */
export function rule(field: string, effect: Effect): FieldRule {
  return { field, effect };
}

/** The effect of a field that stays as it is. */
export const passed: Effect = { kind: 'passed' };

/** The effect of a field that becomes another, or keeps its name with another content. */
export function translated(to: string, how = ''): Effect {
  return { kind: 'translated', to, how };
}

/** The effect of a field that is left out. */
export function ignored(why: string): Effect {
  return { kind: 'ignored', why };
}

/** The effect of a field that is answered with status 400. */
export function refused(what: string): Effect {
  return { kind: 'refused', what };
}

/** The top-level fields of a request that a translator treats itself; it passes all others. */
export interface RuledFields {
  /** All fields with a rule, the refused ones included. */
  known: ReadonlySet<string>;
  /** Refused fields, each with what it asks for. */
  refused: ReadonlyMap<string, string>;
}

/** Reads from the rules which top-level fields of a request a translator treats. */
export function ruledFields(rules: readonly FieldRule[]): RuledFields {
  const refusals = rules.flatMap(({ field, effect }): [string, string][] =>
    /^\w+$/.test(field) && effect.kind === 'refused' ? [[field, effect.what]] : [],
  );
  const known = rules.map(({ field }) => /^\w+/.exec(field)?.[0] ?? '');
  return { known: new Set(known), refused: new Map(refusals) };
}
