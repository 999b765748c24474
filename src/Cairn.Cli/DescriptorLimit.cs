using System.Runtime.InteropServices;

namespace Cairn.Cli;

// How many files the process may have open. Each assembly takes two, so a small limit lets the runtime load some of them and not others, wherever
// it happens to be. Checked before anything else.
//
//   I1  What happens here before the message is written loads no assembly: only types of the runtime's core library, and plain system calls.
internal static unsafe partial class DescriptorLimit
{
    /// <summary>The least with which the tool runs. Its commands take up to 52; ./cairn says the same of less than the runtime itself needs.</summary>
    public const int Least = 64;

    private const int OpenFiles = 7; // RLIMIT_NOFILE of Linux.
    private const int StandardError = 2;

    private static ulong s_allowed = ulong.MaxValue;

    /// <summary>Raises the limit to the highest that is allowed. Says so if that is too few.</summary>
    /// <returns>Whether the tool can run.</returns>
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
            // Without the privilege this fails, and nothing has changed.
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

    /// <summary>Fails if a command needs more than the process may have.</summary>
    /// <param name="count">How many the command needs: as many as it was seen to use, rounded up.</param>
    /// <param name="what">The command, as the subject of the message: "'cairn open'".</param>
    /// <exception cref="ToolException">The limit is lower. The message says how to raise it.</exception>
    public static void RequireFor(int count, string what)
    {
        if (s_allowed < (ulong)count)
        {
            throw new ToolException(ExitCode.File, Problem(count, $"{what} needs", Math.Max(1024, count)));
        }
    }

    private static string Problem(int least, string subject, int raised) =>
        $"this process may have {s_allowed} files open, and {subject} at least {least} ('cairn serve' needs 513, and one for each connection)."
        + $" Raise the limit: 'ulimit -n {raised}' in the shell, LimitNOFILE={raised} in a unit of systemd, --ulimit nofile={raised} for a container";

    // The text is ASCII. Encodings are in an assembly of their own (I1).
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
