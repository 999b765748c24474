using Cairn.Collections;

namespace Cairn.Offline;

// Checks the table of named collections. A name has no checksum, so a name that was changed into another valid name cannot be detected.
internal static unsafe class CollectionCheck
{
    /// <summary>
    /// Repairs invalid records in a table with the given number of collections. An impossible expiration or budget becomes none. A name that is not valid
    /// text, or that another collection has, becomes "damaged collection N".
    /// </summary>
    public static void Repair(CollectionRecord* records, int count)
    {
        var strict = new UTF8Encoding(false, throwOnInvalidBytes: true);
        var names = new HashSet<string>(StringComparer.Ordinal);
        for (int number = 1; number <= count; number++)
        {
            CollectionRecord* record = records + number;
            if (HasImpossibleExpiration(record))
            {
                record->ExpirationKind = 0;
                record->ExpirationMs = 0;
            }

            record->BudgetBytes = Math.Max(0, record->BudgetBytes);
            if (HasImpossibleRegion(record))
            {
                // The record gets the region for which it counted while it was damaged, and no log.
                StoreRegion region = record->Region;
                record->Region = region;
                record->Durability = (byte)Durability.ProcessCrash;
            }

            if (NameOf(record, strict) is not { } name || !names.Add(name))
            {
                string substitute = string.Create(CultureInfo.InvariantCulture, $"damaged collection {number}");
                while (!names.Add(substitute))
                {
                    substitute += "'";
                }

                record->NameBytes = (ushort)strict.GetBytes(substitute, new Span<byte>(record->Name, CollectionRecord.MaxNameBytes));
            }
        }
    }

    public static void Check(StoreImage image, int count, FindingList findings)
    {
        using var records = new NativeBuffer();
        long bytes = (long)StoreLayout.MaxCollections * StoreLayout.CollectionRecordBytes;
        if (!image.TryRead(image.Layout.CollectionsOffset, records.Reserve(bytes), bytes))
        {
            findings.Damage(VerifyArea.Collections, image.Layout.CollectionsOffset, $"The collections cannot be read: {image.Failure}.");
            return;
        }

        var strict = new UTF8Encoding(false, throwOnInvalidBytes: true);
        var names = new Dictionary<string, int>(StringComparer.Ordinal);
        for (int number = 1; number <= Math.Min(count, StoreLayout.MaxCollections - 1); number++)
        {
            // In bounds: the number is below MaxCollections.
            var record = (CollectionRecord*)(records.Start + ((long)number * StoreLayout.CollectionRecordBytes));
            if (NameOf(record, strict) is not { } name)
            {
                Report("has no name that is valid text of 1 to 192 bytes");
            }
            else if (!names.TryAdd(name, number))
            {
                Report($"has the name '{name}' of collection {names[name]}");
            }

            if (HasImpossibleExpiration(record))
            {
                Report($"has the impossible default expiration of kind {record->ExpirationKind} and {record->ExpirationMs:N0} milliseconds");
            }

            if (HasImpossibleRegion(record))
            {
                Report($"has the impossible region {record->RegionMark}, {record->RegionMarkAgain} with durability {record->Durability}");
            }

            if (record->BudgetBytes < 0)
            {
                Report($"has a budget of {record->BudgetBytes:N0} bytes");
            }

            void Report(string problem) => findings.Damage(
                VerifyArea.Collections, image.Layout.CollectionsOffset + ((long)number * StoreLayout.CollectionRecordBytes),
                $"Collection {number} {problem}.");
        }
    }

    private static bool HasImpossibleExpiration(CollectionRecord* record) =>
        record->ExpirationKind > CollectionRecord.ExpirationSliding || record->ExpirationMs is < 0 or > Expiration.LongestMs
        || (record->ExpirationKind != 0 && record->ExpirationMs == 0);

    private static bool HasImpossibleRegion(CollectionRecord* record) =>
        !record->IsRegionSound || record->Durability > (byte)Durability.BackgroundCommit
        || (record->Region == StoreRegion.Evict && record->Durability > (byte)Durability.ProcessCrash);

    private static string? NameOf(CollectionRecord* record, UTF8Encoding strict)
    {
        if (record->NameBytes is 0 or > CollectionRecord.MaxNameBytes)
        {
            return null;
        }

        try
        {
            return strict.GetString(record->Name, record->NameBytes);
        }
        catch (DecoderFallbackException)
        {
            return null;
        }
    }
}
