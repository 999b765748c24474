namespace Cairn.Cli;

/// <summary>The exit codes of the tool. They are part of its interface: scripts compare them, and docs/reference/tool.md lists them.</summary>
internal static class ExitCode
{
    /// <summary>The command succeeded.</summary>
    public const int Done = 0;

    /// <summary>The command was valid, and the answer is negative: a missing key, a condition that does not hold, skipped lines.</summary>
    public const int No = 1;

    /// <summary>The command line is wrong.</summary>
    public const int Usage = 2;

    /// <summary>The store does not exist, may not be used, or could not perform the operation.</summary>
    public const int Store = 3;

    /// <summary>The store is damaged, or the file is not a store.</summary>
    public const int Damaged = 4;

    /// <summary>A file other than the store could not be read or written, or an input is wrong.</summary>
    public const int File = 5;

    /// <summary>The server cannot do what was requested: an address is in use, a certificate cannot be used.</summary>
    public const int Server = 6;

    /// <summary>The tool has a defect.</summary>
    public const int Failure = 70;

    /// <summary>Ctrl-C ended the command (128 + SIGINT, the convention of shells).</summary>
    public const int Interrupted = 130;

    /// <summary>The reader of the output closed it (128 + SIGPIPE).</summary>
    public const int OutputClosed = 141;

    /// <summary>A request to terminate ended the command (128 + SIGTERM).</summary>
    public const int Terminated = 143;

    /// <summary>Gets every code with its meaning, for the help.</summary>
    public static IReadOnlyList<(int Code, string Meaning)> All { get; } =
    [
        (Done, "done"),
        (No, "the answer is negative: the key is missing, a condition does not hold, lines were skipped"),
        (Usage, "the command line is wrong"),
        (Store, "the store does not exist, may not be used, or could not do the operation"),
        (Damaged, "the store is damaged, or the file is not a store"),
        (File, "a file other than the store could not be read or written, or a line of an import is wrong"),
        (Server, "the server cannot start (address taken, certificate not usable), or cannot be reached"),
        (Failure, "an internal error of the tool"),
        (Interrupted, "ended by Ctrl-C"),
        (OutputClosed, "the reader of the output closed it"),
        (Terminated, "ended by a request to terminate"),
    ];
}
