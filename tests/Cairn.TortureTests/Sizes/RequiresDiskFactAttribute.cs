namespace Cairn.TortureTests.Sizes;

/// <summary>A fact that needs so much room on the disk of temporary files. Where there is less, the test is skipped and says so.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RequiresDiskFactAttribute : FactAttribute
{
    public RequiresDiskFactAttribute(int gibibytes)
    {
        Gibibytes = gibibytes;
        long available = new DriveInfo(Path.GetTempPath()).AvailableFreeSpace >> 30;
        if (available < gibibytes)
        {
            Skip = $"{Path.GetTempPath()} has {available} GiB of {gibibytes} that this needs";
        }
    }

    public int Gibibytes { get; }
}
