import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Guess } from './provider.ts';

/** All capabilities, for models about which nothing else is known. */
export const allCapabilities: readonly Capability[] = ['stream', 'tools', 'vision', 'thinking', 'json'];

/** Fields of every card. */
const commonFields = z.looseObject({ id: z.string().min(1), created: z.number().optional().catch(undefined) });

/** The answer with a list of models: an object that holds the list, or the bare list. */
const modelList = z.union([
  z.array(z.unknown()),
  z.looseObject({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.looseObject({ models: z.array(z.unknown()) }).transform(({ models }) => models),
]);

/** Largest number of models of a provider. This limits the size of the announcement. */
const maxModels = 1000;

/** A number of tokens; undefined if a card has no number, or an invalid one. */
export const tokens = z.number().int().positive().optional().catch(undefined);

/**
 * Creates a reader of model lists. The reader returns the newest models first if the cards have dates, and skips cards of an unknown shape,
 * because one odd card must not hide the others.
 * @param describe returns the model that a card describes; undefined for a model that is left out of the list
 */
export function createCardReader<T extends z.ZodType<{ id: string }>>(
  shape: T,
  describe: (card: z.output<T>) => ModelInfo | undefined,
): (answer: unknown) => ModelInfo[] {
  return (answer) => {
    const models: { model: ModelInfo; created: number }[] = [];
    for (const entry of modelList.parse(answer)) {
      const created = commonFields.safeParse(entry).data?.created ?? 0;
      const card = shape.safeParse(entry).data;
      const model = card && describe(card);
      if (model) models.push({ model, created });
    }
    return models
      .sort((a, b) => b.created - a.created)
      .slice(0, maxModels)
      .map(({ model }) => model);
  };
}

/** Creates a reader of lists that contain only names. The capabilities are guessed from the names. */
export function createNameReader(guess: Guess): (answer: unknown) => ModelInfo[] {
  return createCardReader(commonFields, ({ id }) => describeByName(id, guess));
}

/** Describes a model by its name alone; undefined if `guess` returns undefined. */
export function describeByName(id: string, guess: Guess): ModelInfo | undefined {
  const capabilities = guess(id);
  return capabilities && { id, capabilities: [...capabilities] };
}

/** Returns `stream` and the capabilities that are true. */
export function capabilitiesIf(
  supported: Partial<Record<'tools' | 'vision' | 'thinking' | 'json', boolean | undefined>>,
): Capability[] {
  const supportedNames = (['tools', 'vision', 'thinking', 'json'] as const).filter((name) => supported[name] === true);
  return ['stream', ...supportedNames];
}
