import { Button, Group } from '@mantine/core';
import { apiBase } from '../api/call-api.ts';
import { Icon } from './icon.tsx';

export interface DownloadsProps {
  /** The name of the file, before `.csv` or `.json`. */
  name: string;
  path: string;
  filters: string;
}

export function Downloads({ name, path, filters }: DownloadsProps) {
  return (
    <Group gap="xs">
      {(['csv', 'json'] as const).map((format) => (
        <Button
          key={format}
          component="a"
          href={`${apiBase}${path}?format=${format}&${filters}`}
          download={`${name}.${format}`}
          variant="default"
          leftSection={<Icon name="download" size={16} />}
        >
          {format.toUpperCase()}
        </Button>
      ))}
    </Group>
  );
}
