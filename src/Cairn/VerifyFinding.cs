namespace Cairn;

/// <summary>One finding of a verification.</summary>
/// <param name="Severity">The severity of the finding.</param>
/// <param name="Area">The part of the file that it is about.</param>
/// <param name="Offset">The position, in bytes from the start of the file.</param>
/// <param name="Text">The actual and the expected content, as a sentence.</param>
public sealed record VerifyFinding(VerifySeverity Severity, VerifyArea Area, long Offset, string Text);
