/** The reasons of the packet service. */
export const packetReasons = {};
