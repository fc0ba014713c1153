import { InvalidArgumentError } from 'commander';

/** Reads an option that is a whole number of up to nine digits. @throws InvalidArgumentError for anything else */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`);
  };
}
