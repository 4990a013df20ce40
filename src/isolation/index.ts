export { type PrepareModule, type ProbeOptions, probeProfiles } from "./probe.js";
export { type DescribedProfile, describeProbed, describeProfile, type Profile } from "./profile.js";
