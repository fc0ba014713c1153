import { formatCount } from './format.ts';

export interface UnitsUsed {
  images?: number | undefined;
  seconds?: number | undefined;
  characters?: number | undefined;
  searches?: number | undefined;
}

/** Returns the units in words, for example `2 images, 90 s of sound`; undefined if there are none. */
export function formatUnits({ images = 0, seconds = 0, characters = 0, searches = 0 }: UnitsUsed): string | undefined {
  const parts = [
    images > 0 ? `${formatCount(images)} ${images === 1 ? 'image' : 'images'}` : '',
    seconds > 0 ? `${formatCount(seconds)} s of sound` : '',
    characters > 0 ? `${formatCount(characters)} ${characters === 1 ? 'character' : 'characters'} spoken` : '',
    searches > 0 ? `${formatCount(searches)} web ${searches === 1 ? 'search' : 'searches'}` : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts.join(', ') : undefined;
}
