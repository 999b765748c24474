// What tells one start of the machine from another.
//
// Windows has no number for it. The time it started (system time less time running) moves whenever the clock is set, and what GetTickCount64 and the
// system time give differs by some milliseconds from call to call. But the kernel keeps the time of its start, and when the clock is set it moves that time and
// remembers by how much. Less that sum, it is what the clock said when the kernel started: the same for every process and for as long as the kernel runs, and
// to a ten-millionth of a second another at the next start.
//
// A "fast start" continues the kernel of before, with its memory, and so with the pages of the store that were not written yet: rightly the same start.
// If the machine loses its power in between, the kernel starts anew, and with another time.
//
// NtQuerySystemInformation is documented; that these are the fields of SystemTimeOfDayInformation is not ("opaque"), but has not changed since Windows 2000.
using System.Buffers.Binary;
using System.Runtime.Versioning;

namespace Cairn.Platform.Windows;

internal static class WindowsBoot
{
    /// <summary>36 characters that are the same for as long as the kernel runs.</summary>
    [SupportedOSPlatform("windows")]
    public static unsafe string ReadId()
    {
        WindowsNative.TimeOfDayInformation time = default;
        uint bytes;
        int status = WindowsNative.NtQuerySystemInformation(WindowsNative.TimeOfDay, &time, (uint)sizeof(WindowsNative.TimeOfDayInformation), &bytes);
        return status == 0 && bytes >= 40 && time.BootTime > 0
            ? IdOf(time.BootTime - time.BootTimeBias)
            : throw new StoreException(
                "The time when the machine started could not be read, and without it a store cannot tell whether the machine was restarted " +
                $"(status 0x{status:X8}, {bytes} bytes).");
    }

    /// <summary>The id of a start at this time.</summary>
    /// <param name="startTime">In units of 100 ns, as the clock was then.</param>
    public static string IdOf(long startTime)
    {
        Span<byte> bytes = stackalloc byte[16];
        bytes.Clear();
        BinaryPrimitives.WriteInt64BigEndian(bytes[8..], startTime);
        return new Guid(bytes, bigEndian: true).ToString("D");
    }
}
