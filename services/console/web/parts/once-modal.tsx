import { Modal, type ModalProps } from '@mantine/core';
import { createContext, useState } from 'react';

/** Called when a text was copied by one of the buttons below. */
export const CopiedContext = createContext<() => void>(() => undefined);

export interface OnceModalProps extends ModalProps {
  /** Whether the dialog shows a secret that can be seen only now. */
  showsSecret: boolean;
}

/**
 * A dialog that may show a secret once. While it does, neither Escape nor a click beside it closes it until something in it was copied,
 * because the secret would be lost. Its buttons close it at any time.
 */
export function OnceModal({ showsSecret, children, ...props }: OnceModalProps) {
  const [isCopied, setCopied] = useState(false);
  if (isCopied && !showsSecret) setCopied(false);
  const mayLeave = !showsSecret || isCopied;
  return (
    <Modal {...props} closeOnEscape={mayLeave} closeOnClickOutside={mayLeave}>
      <CopiedContext value={() => setCopied(true)}>{children}</CopiedContext>
    </Modal>
  );
}
