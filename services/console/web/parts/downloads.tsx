import { Button, Group } from '@mantine/core';
import { apiBase } from '../api/call-api.ts';
import { Icon } from './icon.tsx';

export interface DownloadsProps {
  /** What the file is called, before `.csv` or `.json`. */
  name: string;
  /** The path of the export in the API. */
  path: string;
  /** The filters of its query. */
  filters: string;
}

/** Links that save an export, as CSV and as JSON. */
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
