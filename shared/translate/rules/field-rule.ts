/** What becomes of a field on its way through the router. */
export type Effect =
  | { kind: 'passed' }
  /** `to`: the path of what it becomes, `[]` for every element. */
  | { kind: 'translated'; to: string; how: string }
  | { kind: 'ignored'; why: string }
  /** `what`: what the field asks for and the other side cannot do. */
  | { kind: 'refused'; what: string };

/**
 * One field of one format, and what becomes of it when the other side speaks the same format and when it speaks the other.
 * The translators take from these rules which fields to leave out or refuse; the tables of docs/translation.md are made from them; a test
 * holds them against what the translators do.
 */
export interface FieldRule {
  /** Path of the field, `[]` for every element; `*` stands for all fields without a rule. */
  field: string;
  sameFormat: Effect;
  otherFormat: Effect;
}

/** One rule, for a line of a table. */
export function rule(field: string, sameFormat: Effect, otherFormat: Effect): FieldRule {
  return { field, sameFormat, otherFormat };
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

/** The top-level fields of a format that no upstream of the other format gets to see as they are. */
export interface OwnFields {
  /** All fields with a rule, the refused ones included. */
  known: ReadonlySet<string>;
  /** Refused fields, each with what it asks for. */
  refused: ReadonlyMap<string, string>;
}

/** Reads from the rules how a request's top-level fields are to be treated toward the other format. */
export function ownFields(rules: readonly FieldRule[]): OwnFields {
  const refusals = rules.flatMap(({ field, otherFormat }): [string, string][] =>
    /^\w+$/.test(field) && otherFormat.kind === 'refused' ? [[field, otherFormat.what]] : [],
  );
  const known = rules.map(({ field }) => /^\w+/.exec(field)?.[0] ?? '');
  return { known: new Set(known), refused: new Map(refusals) };
}
