import { z } from 'zod';
import { toKebabCase } from '../format-value.ts';

/**
 * What a field takes. `amounts`: texts `name=value`, for an object of numbers. `past` and `future`: a time in milliseconds since 1970.
 * `span`: milliseconds. `minutes`: a span in minutes. `mixed`: true, false, or a list.
 */
export type FieldKind =
  | 'text'
  | 'choice'
  | 'whole'
  | 'number'
  | 'switch'
  | 'list'
  | 'amounts'
  | 'past'
  | 'future'
  | 'span'
  | 'minutes'
  | 'mixed';

/** One value that a command takes: a field of the query or of the body. */
export interface InputField {
  /** The names of the objects around the value, and of the value, such as `['ceiling', 'models']`. */
  path: readonly string[];
  /** The name of its option, without dashes before it. */
  flag: string;
  kind: FieldKind;
  description: string | undefined;
  isRequired: boolean;
  /** Whether null removes the value. */
  isNullable: boolean;
  /** The values to choose from, or the names of amounts. */
  choices: readonly string[];
  range: { min: number; max: number };
  /** The value that the router uses for an absent one. */
  absent: string | undefined;
  /** The same as a value to send, because a router of an earlier release may require it; undefined for objects. */
  defaultValue: unknown;
}

/** Whether a boolean is written as a text, as queries have to. */
const switchTexts: ReadonlySet<string> = new Set(['true', 'false']);

/** Returns the fields of a query or a body. */
export function listInputFields(schema: z.ZodType | undefined, around: readonly string[] = []): InputField[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]): InputField[] => {
    const { type, ...facts } = unwrap(field as z.ZodType);
    const path = [...around, name];
    const numbers =
      type instanceof z.ZodObject ? Object.values(type.shape).map((each) => unwrap(each as z.ZodType)) : [];
    if (type instanceof z.ZodObject && !numbers.every((each) => each.type instanceof z.ZodNumber))
      return listInputFields(type, path).map((each) => ({
        ...each,
        isRequired: false,
        isNullable: each.isNullable || !each.isRequired,
      }));
    return [{ path, ...describeType(name, type), flag: toFlag(path, numbers.length > 0), ...facts }];
  });
}

export interface Unwrapped {
  type: z.ZodType;
  isRequired: boolean;
  isNullable: boolean;
  description: string | undefined;
  absent: string | undefined;
  defaultValue: unknown;
}

/** Removes from a schema what says that a value may be absent or null, or how it is converted. */
export function unwrap(schema: z.ZodType): Unwrapped {
  const facts = {
    isRequired: true,
    isNullable: false,
    description: schema.description,
    absent: undefined as string | undefined,
    defaultValue: undefined as unknown,
  };
  for (let type = schema; ;) {
    facts.description ??= type.description;
    const { def } = type as unknown as { def: { innerType?: z.ZodType; in?: z.ZodType; defaultValue?: unknown } };
    if (type instanceof z.ZodNullable) facts.isNullable = true;
    else if (type instanceof z.ZodDefault) {
      const values = [def.defaultValue].flat();
      // An object of defaults says nothing in one line.
      const isObject = values.some((value) => typeof value === 'object');
      Object.assign(facts, { isRequired: false });
      if (!isObject) Object.assign(facts, { absent: values.join(','), defaultValue: def.defaultValue });
    } else if (def.innerType !== undefined) facts.isRequired = false;
    const inner = def.innerType ?? def.in;
    if (inner === undefined) return { type, ...facts };
    type = inner;
  }
}

function describeType(name: string, type: z.ZodType): Pick<InputField, 'kind' | 'choices' | 'range'> {
  const [plain, range] = [{ choices: [] as string[] }, { min: 0, max: 999_999_999 }];
  if (type instanceof z.ZodBoolean) return { kind: 'switch', range, ...plain };
  if (type instanceof z.ZodArray) return { kind: 'list', range, ...plain };
  if (type instanceof z.ZodUnion) return { kind: 'mixed', range, ...plain };
  if (type instanceof z.ZodObject) return { kind: 'amounts', range, choices: Object.keys(type.shape) };
  if (type instanceof z.ZodEnum) {
    const choices = type.options.map(String);
    return { kind: choices.every((choice) => switchTexts.has(choice)) ? 'switch' : 'choice', range, choices };
  }
  if (!(type instanceof z.ZodNumber)) return { kind: 'text', range, ...plain };
  if (name === 'from' || name === 'to') return { kind: 'past', range, ...plain };
  if (name.endsWith('At')) return { kind: 'future', range, ...plain };
  if (name.endsWith('Ms')) return { kind: 'span', range, ...plain };
  if (name.endsWith('InMinutes')) return { kind: 'minutes', range, ...plain };
  const [min, max] = [Math.max(range.min, type.minValue ?? 0), Math.min(range.max, type.maxValue ?? Infinity)];
  return { kind: type.isInt ? 'whole' : 'number', range: { min, max }, ...plain };
}

/** Returns the name of an option: `expires` for `expiresAt`, `user` for `userId`, and `limit` for each of `limits`. */
function toFlag(path: readonly string[], isAmounts: boolean): string {
  const name = path
    .map(toKebabCase)
    .join('-')
    .replace(/-(?:id|at|ms)$/, '');
  return isAmounts ? name.replace(/s$/, '') : name;
}
