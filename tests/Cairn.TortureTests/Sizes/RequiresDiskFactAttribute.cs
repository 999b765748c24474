namespace Cairn.TortureTests.Sizes;

/// <summary>A fact that needs free space on the disk of temporary files. With less space, the test is skipped with a message.</summary>
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
