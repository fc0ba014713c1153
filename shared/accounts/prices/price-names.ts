import { LRUCache } from 'lru-cache';

/** By model: every request asks, and there are few models. */
const known = new LRUCache<string, readonly string[]>({ max: 1_000 });

/**
 * The names under which a model's price may stand, the most exact first: as it is called; without a date or `latest`; without
 * its vendor, as aggregators and clouds put it in front (`anthropic/claude-sonnet-4.5`, `us.anthropic.claude-opus-4-5-v1:0`).
 */
export function priceNames(model: string): readonly string[] {
  let names = known.get(model);
  if (!names) known.set(model, (names = namesOf(model)));
  return names;
}

function namesOf(model: string): readonly string[] {
  const plain = model.slice(model.lastIndexOf('/') + 1).replace(/^(?:[a-z]{2,6}\.)?anthropic\./, '');
  const names = [model, withoutDate(model), plain, withoutDate(plain), withoutDate(plain).replaceAll('.', '-')];
  return [...new Set(names)];
}

function withoutDate(name: string): string {
  return name.replace(/-v\d+(?::\d+)?$/, '').replace(/[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest)$/, '');
}
