/** PostgreSQL's schema of the packet service. */
export const SCHEMA = 'packet_service';
