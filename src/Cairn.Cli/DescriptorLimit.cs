namespace Cairn.Cli;

// Checks how many files the process may have open. Each assembly takes two descriptors. With a small limit, the runtime can load some
// assemblies and not others, and fails at any point. So this check comes first.
//
//   I1  Until the message is written, this code loads no assembly: it uses only types of the runtime's core library, and system calls.
internal static unsafe partial class DescriptorLimit
{
    /// <summary>
    /// The minimum for the tool. Its commands take up to 52. ./cairn prints a similar message if the limit is too low even for the
    /// runtime.
    /// </summary>
    public const int Least = 64;

    private const int OpenFiles = 7; // RLIMIT_NOFILE of Linux.
    private const int CoreFiles = 4; // RLIMIT_CORE of Linux.
    private const int StandardError = 2;

    private static ulong s_allowed = ulong.MaxValue;

    /// <summary>Raises the limit to the allowed maximum. Writes a message if it is still too low.</summary>
    /// <returns>True if the tool can run.</returns>
    public static bool Require(string[] args)
    {
        Limits limits;
        if (!OperatingSystem.IsLinux() || GetLimit(OpenFiles, &limits) != 0)
        {
            return true;
        }

        if (limits.Soft < limits.Hard)
        {
            Limits raised = new() { Soft = limits.Hard, Hard = limits.Hard };
            limits = SetLimit(OpenFiles, &raised) == 0 ? raised : limits;
        }

        if (limits.Soft < Least)
        {
            // Without the privilege this fails and changes nothing.
            Limits raised = new() { Soft = Least, Hard = Least };
            limits = SetLimit(OpenFiles, &raised) == 0 ? raised : limits;
        }

        s_allowed = limits.Soft;
        if (limits.Soft >= Least)
        {
            return true;
        }

        string problem = Problem(Least, "the tool needs", 1024);
        bool isJson = false;
        foreach (string word in args)
        {
            isJson |= word == "--json";
        }

        Write(isJson ? $"{{\"error\":\"{problem}\",\"exitCode\":{ExitCode.File}}}\n" : $"cairn: {problem}\n");
        return false;
    }

    /// <summary>Fails if a command needs more descriptors than the limit.</summary>
    /// <param name="count">The number that the command needs: the measured number, rounded up.</param>
    /// <param name="what">The command as the subject of the message, such as "'cairn open'".</param>
    /// <exception cref="ToolException">The limit is lower. The message states how to raise it.</exception>
    public static void RequireFor(int count, string what)
    {
        if (s_allowed < (ulong)count)
        {
            throw new ToolException(ExitCode.File, Problem(count, $"{what} needs", Math.Max(1024, count)));
        }
    }

    /// <summary>Raises the limit of core files to the allowed maximum. Returns false if core files remain forbidden.</summary>
    public static bool TryRaiseCoreLimit()
    {
        Limits limits;
        if (!OperatingSystem.IsLinux() || GetLimit(CoreFiles, &limits) != 0)
        {
            return false;
        }

        Limits raised = new() { Soft = ulong.MaxValue, Hard = ulong.MaxValue };
        if (SetLimit(CoreFiles, &raised) == 0)
        {
            return true;
        }

        raised.Soft = raised.Hard = limits.Hard;
        return SetLimit(CoreFiles, &raised) == 0 && limits.Hard > 0;
    }

    private static string Problem(int least, string subject, int raised) =>
        $"this process may have {s_allowed} files open, and {subject} at least {least} ('cairn serve' needs 513, and one for each connection)."
        + $" Raise the limit: 'ulimit -n {raised}' in the shell, LimitNOFILE={raised} in a unit of systemd, --ulimit nofile={raised} for a container";

    // The text is ASCII, so it needs no encoding. Encodings are in another assembly (I1).
    private static void Write(string text)
    {
        byte* bytes = stackalloc byte[text.Length];
        for (int i = 0; i < text.Length; i++)
        {
            bytes[i] = (byte)text[i];
        }

        _ = NativeWrite(StandardError, bytes, text.Length);
    }

    [LibraryImport("libc", EntryPoint = "getrlimit")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int GetLimit(int resource, Limits* limits);

    [LibraryImport("libc", EntryPoint = "setrlimit")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int SetLimit(int resource, Limits* limits);

    [LibraryImport("libc", EntryPoint = "write")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial nint NativeWrite(int descriptor, byte* bytes, nint count);

    [StructLayout(LayoutKind.Sequential)]
    private struct Limits
    {
        public ulong Soft;
        public ulong Hard;
    }
}
