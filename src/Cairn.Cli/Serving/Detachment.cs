using System.Net.Sockets;

namespace Cairn.Cli.Serving;

// Runs a server in the background as a daemon: without a terminal, and in a separate session.
//
// A .NET process cannot fork, because its threads would not be copied. So the tool starts a second process with the same arguments, and
// waits until that process reports that it is ready, with the protocol of service managers. Until then the second process keeps the
// terminal, and reports errors there.
internal static partial class Detachment
{
    // Marks the second process.
    private const string Marker = "CAIRN_DETACHED";
    private const int LongestState = 1024;
    private const int ReadWrite = 2;
    private const int StandardStreams = 3;
    private const string Descriptors = "/proc/self/fd";
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(50);

    /// <summary>Returns whether this process is the one in the background.</summary>
    public static bool IsDetached(Func<string, string?> environment) => environment(Marker) is { Length: > 0 };

    /// <summary>Starts this program again with the same arguments, and waits until it serves or ends.</summary>
    /// <returns>The exit code: 0 if it serves.</returns>
    /// <exception cref="ToolException">The process cannot be started.</exception>
    public static int StartInBackground(CancellationToken interruption)
    {
        if (!OperatingSystem.IsLinux())
        {
            throw ToolException.Usage("-d is offered on Linux only; elsewhere let a service manager run the server");
        }

        string directory = Directory.CreateTempSubdirectory("cairn-").FullName;
        try
        {
            string path = Path.Combine(directory, "ready");
            using var states = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            states.Bind(new UnixDomainSocketEndPoint(path));
            using Process process = Start(path);
            return WaitUntilReady(states, process, interruption);
        }
        catch (Exception e) when (e is SocketException or System.ComponentModel.Win32Exception)
        {
            throw new ToolException(ExitCode.Server, $"the server cannot be started in the background: {e.Message}", e);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    /// <summary>Leaves the session of the parent process, so that signals of its terminal do not reach this process.</summary>
    public static void LeaveSession() => _ = NativeSetSid();

    /// <summary>Detaches from the terminal, or from its replacement: redirects the standard streams to /dev/null.</summary>
    public static void LetGoOfTerminal()
    {
        int nowhere = NativeOpen("/dev/null", ReadWrite);
        if (nowhere < 0)
        {
            return; // The streams then stay open, which does no harm.
        }

        // Duplicates are inherited too: the runtime makes some when it starts a process. A reader of the other end of a pipe would also
        // wait for them.
        string?[] streams = [.. Enumerable.Range(0, StandardStreams).Select(TargetOf)];
        foreach (string file in Directory.EnumerateFileSystemEntries(Descriptors))
        {
            int descriptor = int.Parse(Path.GetFileName(file), CultureInfo.InvariantCulture);
            if (descriptor < StandardStreams || (TargetOf(descriptor) is { } target && streams.Contains(target)))
            {
                _ = NativeDuplicate(nowhere, descriptor);
            }
        }

        if (nowhere >= StandardStreams)
        {
            _ = NativeClose(nowhere);
        }
    }

    private static string? TargetOf(int descriptor)
    {
        try
        {
            return new FileInfo(string.Create(CultureInfo.InvariantCulture, $"{Descriptors}/{descriptor}")).LinkTarget;
        }
        catch (IOException)
        {
            return null; // The descriptor was closed meanwhile.
        }
    }

    private static Process Start(string readySocket)
    {
        string[] arguments = Environment.GetCommandLineArgs();
        string program = Environment.ProcessPath!;
        var start = new ProcessStartInfo(program) { UseShellExecute = false };

        // If the runtime's executable runs the tool, the tool is its first argument.
        bool isHosted = Path.GetFileNameWithoutExtension(program).Equals("dotnet", StringComparison.OrdinalIgnoreCase);
        foreach (string argument in isHosted ? arguments : arguments.Skip(1))
        {
            start.ArgumentList.Add(argument);
        }

        start.Environment[Marker] = "1";
        start.Environment[ServiceState.SocketVariable] = readySocket;
        return Process.Start(start)!;
    }

    private static int WaitUntilReady(Socket states, Process process, CancellationToken interruption)
    {
        byte[] state = new byte[LongestState];
        while (true)
        {
            if (states.Poll(LookInterval, SelectMode.SelectRead)
                && Encoding.UTF8.GetString(state, 0, states.Receive(state)).Split('\n').Contains(ServiceState.Ready))
            {
                return ExitCode.Done;
            }

            if (process.HasExited)
            {
                return process.ExitCode;
            }

            if (interruption.IsCancellationRequested)
            {
                process.Kill();
                interruption.ThrowIfCancellationRequested();
            }
        }
    }

    [LibraryImport("libc", EntryPoint = "setsid")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeSetSid();

    [LibraryImport("libc", EntryPoint = "open", StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeOpen(string path, int flags);

    [LibraryImport("libc", EntryPoint = "dup2")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeDuplicate(int descriptor, int target);

    [LibraryImport("libc", EntryPoint = "close")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeClose(int descriptor);
}
