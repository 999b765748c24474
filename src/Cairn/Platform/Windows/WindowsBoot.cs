// Distinguishes one start of the machine from another.
//
// Windows has no number for it. The start time computed from the clock (system time minus running time) changes whenever the clock is set. GetTickCount64
// and the system time together vary by some milliseconds from call to call. But the kernel stores the time of its start. When the clock is set, the kernel
// moves that time and remembers the sum of all moves. The stored time minus that sum is the clock's time when the kernel started. It is the same for every
// process and as long as the kernel runs. At the next start it differs, because its unit is 100 ns.
//
// A "fast start" continues the previous kernel with its memory, which includes the pages of the store that were not written yet. So it counts as the same
// start. If the machine loses its power in between, the kernel starts from the beginning, with another time.
//
// NtQuerySystemInformation is documented. The fields of SystemTimeOfDayInformation are not ("opaque"), but they have not changed since Windows 2000.
using System.Runtime.Versioning;

namespace Cairn.Platform.Windows;

internal static class WindowsBoot
{
    /// <summary>Returns 36 characters that are the same as long as the kernel runs.</summary>
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

    /// <summary>Returns the id of a start at this time.</summary>
    /// <param name="startTime">The clock's time at the start, in units of 100 ns.</param>
    public static string IdOf(long startTime)
    {
        Span<byte> bytes = stackalloc byte[16];
        bytes.Clear();
        BinaryPrimitives.WriteInt64BigEndian(bytes[8..], startTime);
        return new Guid(bytes, bigEndian: true).ToString("D");
    }
}
