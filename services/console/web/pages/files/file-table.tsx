import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import type { FileList, OwnedFile } from '../../../contract/batches.ts';
import { apiBase, callApi } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Copy } from '../../parts/copy.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { formatAgo, formatBytes, formatCount } from '../../parts/format.ts';
import { RowName } from '../../parts/table/row-parts.tsx';

export interface FileTableProps {
  list: FileList;
  /** The owner of the files, for example `user:0123456789ab`. */
  owner: string;
  /** See the `address` of `DataList`. */
  address?: string;
}

export function FileTable({ list: { files, more, mayRead, mayDelete }, owner, address }: FileTableProps) {
  const [fileToDelete, setFileToDelete] = useState<OwnedFile>();
  const query = `owner=${encodeURIComponent(owner)}`;
  const deleteFile = useChange(({ id }: OwnedFile) => callApi('DELETE', `/files/${id}?${query}`), ['/files']);
  return (
    <>
      <DataList
        label="Files"
        rows={files}
        getId={({ id }) => id}
        columns={[
          {
            label: 'File',
            render: (file) => <FileName file={file} />,
            sortBy: ({ name }) => name,
            search: ({ id, name }) => `${name} file-${id}`,
          },
          { label: 'Purpose', sortBy: ({ purpose }) => purpose },
          { label: 'Size', sortBy: ({ bytes }) => bytes, format: formatBytes, isNumber: true },
          { label: 'Lines', sortBy: ({ lines }) => lines, format: formatCount, isNumber: true, wideOnly: true },
          { label: 'Created', sortBy: ({ createdAt }) => createdAt, format: formatAgo, wideOnly: true },
          {
            label: 'Expires',
            render: ({ expiresAt }) => (expiresAt === undefined ? 'never' : formatAgo(expiresAt)),
            sortBy: ({ expiresAt }) => expiresAt,
          },
        ]}
        {...(address !== undefined && { address })}
        hasMore={more}
        actions={(file) => (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            {mayRead ? (
              <Button
                size="xs"
                variant="default"
                component="a"
                href={`${apiBase}/files/${file.id}/content?${query}`}
                download
                aria-label={`Download ${file.name}`}
              >
                Download
              </Button>
            ) : null}
            {mayDelete ? (
              <Button
                size="xs"
                variant="default"
                aria-label={`Delete ${file.name}`}
                onClick={() => setFileToDelete(file)}
              >
                Delete
              </Button>
            ) : null}
          </Group>
        )}
      />
      <Confirm
        title="Delete the file?"
        action="Delete file"
        change={deleteFile}
        input={fileToDelete}
        onClose={() => setFileToDelete(undefined)}
      >
        {fileToDelete?.name} is deleted for good. A batch that has begun with the file goes on.
      </Confirm>
    </>
  );
}

function FileName({ file: { id, name } }: { file: OwnedFile }) {
  // The APIs of all client formats accept an id with this prefix.
  const prefixedId = `file-${id}`;
  return (
    <RowName
      name={name}
      details={
        <Group gap={4} wrap="nowrap">
          <span className="break">{prefixedId}</span>
          <Copy value={prefixedId} label={`Copy the id of ${name}`} />
        </Group>
      }
    />
  );
}
