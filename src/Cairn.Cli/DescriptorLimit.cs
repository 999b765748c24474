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

        if (limits.Soft >= Least)
        {
            return true;
        }

        string problem = $"this process may have {limits.Soft} files open, and {Least} are the least ('cairn serve' takes 513, and one for each connection)."
            + " Raise the limit: 'ulimit -n 1024' in the shell, LimitNOFILE=1024 in a unit of systemd, --ulimit nofile=1024 for a container";
        bool isJson = false;
        foreach (string word in args)
        {
            isJson |= word == "--json";
        }

        Write(isJson ? $"{{\"error\":\"{problem}\",\"exitCode\":{ExitCode.File}}}\n" : $"cairn: {problem}\n");
        return false;
    }

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
