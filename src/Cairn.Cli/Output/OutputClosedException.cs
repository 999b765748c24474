namespace Cairn.Cli.Output;

/// <summary>Whoever read the output is gone: there is nobody left to tell, so the tool ends in silence.</summary>
internal sealed class OutputClosedException : IOException;
