import { z } from 'zod';
import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Guess } from './provider.ts';

/** Everything that models of today can do, for those of which nothing else is known. */
export const allCapabilities: readonly Capability[] = ['stream', 'tools', 'vision', 'thinking', 'json'];

/** What every card has. */
const common = z.looseObject({ id: z.string().min(1), created: z.number().optional().catch(undefined) });

/** A list of models as providers answer it: an object with the list in it, or nothing but the list. */
const list = z.union([
  z.array(z.unknown()),
  z.looseObject({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.looseObject({ models: z.array(z.unknown()) }).transform(({ models }) => models),
]);

/** Announced at most; an announcement goes out every second. */
const maxModels = 1000;

/** A count of tokens; undefined where a card tells none or nonsense. */
export const tokens = z.number().int().positive().optional().catch(undefined);

/**
 * Makes a reader of model lists, newest models first where the cards tell their age. Cards that do not have the shape are
 * passed over: one odd card must not hide the others.
 * @param describe what a card tells; undefined for a model that gives no chat answers
 */
export function readCards<T extends z.ZodType<{ id: string }>>(
  shape: T,
  describe: (card: z.output<T>) => ModelInfo | undefined,
): (answer: unknown) => ModelInfo[] {
  return (answer) => {
    const found: { model: ModelInfo; created: number }[] = [];
    for (const raw of list.parse(answer)) {
      const created = common.safeParse(raw).data?.created ?? 0;
      const card = shape.safeParse(raw).data;
      const model = card && describe(card);
      if (model) found.push({ model, created });
    }
    return found
      .sort((a, b) => b.created - a.created)
      .slice(0, maxModels)
      .map(({ model }) => model);
  };
}

/** A reader of lists that tell nothing but names: what the models can do is guessed from these. */
export function readNames(guess: Guess): (answer: unknown) => ModelInfo[] {
  return readCards(common, ({ id }) => guessed(id, guess));
}

/** A model of which only the name is known. */
export function guessed(id: string, guess: Guess): ModelInfo | undefined {
  const capabilities = guess(id);
  return capabilities && { id, capabilities: [...capabilities] };
}

/** Capabilities by what holds: streaming always, the others as told. */
export function capabilitiesIf(
  holds: Partial<Record<Exclude<Capability, 'stream'>, boolean | undefined>>,
): Capability[] {
  const further = (['tools', 'vision', 'thinking', 'json'] as const).filter((name) => holds[name] === true);
  return ['stream', ...further];
}
