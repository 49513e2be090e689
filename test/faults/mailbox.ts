import { type MailServer, mailServer, type ReceivedMail } from '../helpers/mail-server.ts';

/** A mail server on loopback whose mails are found by their recipient. */
export interface Mailbox {
  url: string;
  to(address: string): readonly ReceivedMail[];
  stop: MailServer['stop'];
}

export async function openMailbox(): Promise<Mailbox> {
  const server = await mailServer();
  const byAddress = new Map<string, ReceivedMail[]>();
  return {
    url: server.url,
    to(address) {
      for (const mail of server.mails.splice(0)) {
        for (const to of mail.to) byAddress.set(to, [...(byAddress.get(to) ?? []), mail]);
      }
      return byAddress.get(address) ?? [];
    },
    stop: server.stop,
  };
}
