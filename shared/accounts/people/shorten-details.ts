import { isJsonObject } from '#shared/core/json.ts';

/** Numbers of characters to which the JSON of a long value is shortened. The second number is used if the first does not suffice. */
const keptLengths = [400, 100];

type Details = Record<string, unknown>;

/**
 * Shortens the details of an audit entry until their JSON has at most `maxLength` characters. Replaces the longest values by the beginning
 * of their JSON, so that a long value displaces no other value. Each field of `before` and `after` counts as a separate value. If there are
 * still too many values, keeps only the names of the fields.
 */
export function shortenDetails(input: Details, maxLength: number): Details {
  const { length } = JSON.stringify(input);
  if (length <= maxLength) return input;
  for (const kept of keptLengths) {
    const details = { ...input };
    const places = Object.keys(details).flatMap((name) => {
      const value = details[name];
      if ((name !== 'before' && name !== 'after') || !isJsonObject(value)) return [{ within: details, name }];
      const within = { ...value };
      details[name] = within;
      return Object.keys(within).map((inner) => ({ within, name: inner }));
    });
    const sized = places.map((place) => ({ ...place, text: JSON.stringify(place.within[place.name]) ?? '' }));
    for (const { within, name, text } of sized.toSorted((a, b) => b.text.length - a.text.length)) {
      if (text.length > kept) within[name] = `${text.slice(0, kept).toWellFormed()}…`;
      if (JSON.stringify(details).length <= maxLength) return details;
    }
  }
  const { after } = input;
  return { tooLong: length, fields: Object.keys(isJsonObject(after) ? after : input) };
}
