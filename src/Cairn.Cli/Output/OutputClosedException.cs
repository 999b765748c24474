namespace Cairn.Cli.Output;

/// <summary>Reports that the reader closed the output. The tool then ends without a message.</summary>
internal sealed class OutputClosedException : IOException;
