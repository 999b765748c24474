namespace Cairn.Cli.Output;

// Writes to standard output or standard error with write(2). A failure on standard error is ignored, because the exit code is more
// important.
//
// The framework's console stream ignores that the reader of a pipe has closed it, so `cairn export | head -1` would still read the whole
// store. Its file stream keeps a separate position, so two commands that share a redirection would overwrite each other.
internal sealed partial class DescriptorStream(int descriptor) : WriteOnlyStream
{
    public const int StandardOutput = 1;
    public const int StandardError = 2;

    // These numbers are the same on Linux and macOS, except WouldBlock.
    private const int InterruptedCall = 4;
    private const int BrokenPipe = 32;
    private const short PollOut = 4;
    private static readonly int WouldBlock = OperatingSystem.IsLinux() ? 11 : 35;

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <summary>Writes all bytes, with repeated calls if the system accepts only a part.</summary>
    /// <exception cref="OutputClosedException">The reader has closed the pipe.</exception>
    public override unsafe void Write(ReadOnlySpan<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            nint written;
            fixed (byte* bytes = buffer)
            {
                written = NativeWrite(descriptor, bytes, buffer.Length);
            }

            if (written >= 0)
            {
                buffer = buffer[(int)written..];
                continue;
            }

            int error = Marshal.GetLastPInvokeError();
            if (error == InterruptedCall)
            {
                continue;
            }

            if (error == WouldBlock)
            {
                // Another process that shares the descriptor made it non-blocking.
                var wait = new PollRequest { Descriptor = descriptor, Events = PollOut };
                NativePoll(&wait, 1, -1);
            }
            else if (descriptor != StandardOutput)
            {
                return;
            }
            else if (error == BrokenPipe)
            {
                throw new OutputClosedException();
            }
            else
            {
                throw new IOException($"Standard output could not be written: {Marshal.GetPInvokeErrorMessage(error)}.");
            }
        }
    }

    public override void Flush()
    {
        // There is no buffer.
    }

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static unsafe partial nint NativeWrite(int descriptor, byte* buffer, nint count);

    [LibraryImport("libc", EntryPoint = "poll", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static unsafe partial int NativePoll(PollRequest* requests, nuint count, int timeoutMs);

    [StructLayout(LayoutKind.Sequential)]
    private struct PollRequest
    {
        public int Descriptor;
        public short Events;
        public short ReturnedEvents;
    }
}
