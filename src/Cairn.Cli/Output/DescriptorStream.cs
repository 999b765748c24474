using System.Runtime.InteropServices;

namespace Cairn.Cli.Output;

// Standard output, or standard error, by write(2). What cannot be said on standard error is lost: the exit code counts.
//
// The framework's stream of the console ignores that the reader of a pipe has gone, so that `cairn export | head -1` would
// read the whole store for nobody; its stream of a file keeps a position of its own, so that two commands which share a
// redirection would write over each other.
internal sealed partial class DescriptorStream(int descriptor) : WriteOnlyStream
{
    public const int StandardOutput = 1;
    public const int StandardError = 2;

    // The same numbers on Linux and macOS, but for the one that has two.
    private const int InterruptedCall = 4;
    private const int BrokenPipe = 32;
    private const short PollOut = 4;
    private static readonly int WouldBlock = OperatingSystem.IsLinux() ? 11 : 35;

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <summary>Writes all of it, however often the system takes only a part.</summary>
    /// <exception cref="OutputClosedException">Nobody reads any more.</exception>
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
                // Somebody who shares the descriptor made it non-blocking.
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
        // Nothing is kept back.
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
