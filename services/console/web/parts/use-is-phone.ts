import { useMediaQuery } from '@mantine/hooks';

/** Whether there is room for one column only. */
export function useIsPhone(): boolean {
  return useMediaQuery('(max-width: 47.99em)', undefined, { getInitialValueInEffect: false });
}
