namespace Cairn;

/// <summary>Something that a verification noticed.</summary>
/// <param name="Severity">What it means.</param>
/// <param name="Area">The part of the file it is about.</param>
/// <param name="Offset">Where, in bytes from the file's start.</param>
/// <param name="Text">What is there and what was expected, as a sentence.</param>
public sealed record VerifyFinding(VerifySeverity Severity, VerifyArea Area, long Offset, string Text);
