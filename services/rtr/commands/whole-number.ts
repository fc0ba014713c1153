import { InvalidArgumentError } from 'commander';

/**
 * Creates a parser for options that are whole numbers of up to nine digits. The parser throws InvalidArgumentError for any other text.
 */
export function createWholeNumberParser(min: number, max: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`);
  };
}
