using Cairn.Concurrency;

namespace Cairn.Offline;

// Checks the owners that have the store open, and the leftovers of dead ones. Each living owner holds a kernel lock on a byte past the file's end.
internal static unsafe class OwnerCheck
{
    public static bool IsAlive(StoreImage image, int slot) =>
        slot is >= 1 and <= StoreLayout.MaxOwners && image.File.IsByteLockedByOther(OwnerTable.GateByte + slot, 1);

    /// <summary>Returns whether a process opens, closes, grows or compacts the store at present.</summary>
    public static bool IsGateTaken(StoreImage image) => image.File.IsByteLockedByOther(OwnerTable.GateByte, 1);

    /// <summary>Returns whether a process has the store open, or opens, closes, grows or compacts it at present.</summary>
    public static bool HasOpeningOrGate(StoreImage image) =>
        image.File.IsByteLockedByOther(OwnerTable.GateByte, 1 + StoreLayout.MaxOwners);

    /// <summary>Checks every owner slot. Returns the number of slots with an owner.</summary>
    public static int Check(StoreImage image, FindingList findings)
    {
        int alive = 0;
        var record = default(OwnerRecord);
        for (int slot = 1; slot <= StoreLayout.MaxOwners; slot++)
        {
            bool isAlive = IsAlive(image, slot);
            alive += isAlive ? 1 : 0;
            if (!image.TryRead(image.OwnerOffset(slot), &record, OwnerRecord.FixedBytes))
            {
                findings.Damage(VerifyArea.Owners, image.OwnerOffset(slot), $"The records from owner slot {slot} on cannot be read: {image.Failure}.");
                return alive;
            }

            CheckRecord(image, slot, &record, isAlive, findings);
        }

        return alive;
    }

    private static void CheckRecord(StoreImage image, int slot, OwnerRecord* record, bool isAlive, FindingList findings)
    {
        int pins = 0;
        for (int cell = 0; cell < StoreLayout.HazardCellsPerOwner; cell++)
        {
            int pinned = record->Hazards[cell];
            pins += pinned != 0 ? 1 : 0;
            if (pinned < 0 || pinned > image.Layout.MaxSegments)
            {
                findings.Damage(VerifyArea.Owners, image.OwnerOffset(slot), $"Owner slot {slot} pins segment {(long)pinned - 1}, which cannot exist.");
            }
        }

        if (record->HazardHighWater is < 0 or > StoreLayout.HazardCellsPerOwner)
        {
            findings.Damage(
                VerifyArea.Owners, image.OwnerOffset(slot),
                $"Owner slot {slot} has used {record->HazardHighWater} hazard cells; there are {StoreLayout.HazardCellsPerOwner}.");
        }

        // The slot is checked again, because a dead owner can have a successor by now.
        if (!isAlive && pins > 0 && !IsAlive(image, slot))
        {
            findings.Leftover(
                VerifyArea.Owners, image.OwnerOffset(slot),
                $"Process {record->ProcessId}, which had owner slot {slot}, died with {pins} segments pinned. The next eviction of one of them releases all.");
        }
    }
}
